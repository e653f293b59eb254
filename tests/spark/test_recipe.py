"""The recipe of a pipeline on a cluster, as far as one machine can run it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_admin_proto.spark.session import NoJavaError, check_java
from tests.docs.pages import DOCS, run_page
from tests.docs.test_recipes import SPARK
from tests.helpers.requirements import skip_or_fail


@pytest.mark.explore
@pytest.mark.xdist_group("spark processes")
def test_the_recipe_runs(tmp_path: Path) -> None:
    try:
        check_java()
    except NoJavaError as error:
        skip_or_fail(str(error))
    run_page(DOCS / "recipes" / SPARK, tmp_path)
