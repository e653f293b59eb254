from pathlib import Path
from tools.jars import cache_folder
def broker_jars(release: str) -> list[Path]:
    return sorted((cache_folder() / "jars" / f"broker-{release}").glob("*.jar"))
