"""What mkdocs calls: adds the pages made from the code, and looks at the site when it is built."""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from tools.site import (
    blocks,
    field,
    house,
    links,
    messages,
    pictures,
    pipeline_tables,
    plots,
    reference,
    server_configs,
)

#: Name in ``<!-- made: NAME -->`` on a page → what makes the text in its place.
MADE = {**house.MADE, **field.MADE, **pipeline_tables.MADE}
_MARK = re.compile(r"^<!-- made: ([\w-]+) -->$", re.MULTILINE)


def generated() -> dict[str, str]:
    """Path below ``docs/`` → text of every page that no file has."""
    found = messages.pages()
    made = {page.path: messages.page_text(page) for page in found}
    made[f"{messages.FOLDER}/index.md"] = messages.index_text(found)
    made[f"{reference.FOLDER}/error-codes.md"] = reference.errors_text()
    made[f"{reference.FOLDER}/kap.md"] = reference.commands_text()
    made |= {page.path: reference.api_text(page) for page in reference.API_PAGES}
    made[server_configs.PATH] = server_configs.text()
    made[blocks.PATH] = blocks.text()
    made["stylesheets/pictures.css"] = pictures.site_style()
    return made


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    for path, text in generated().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put what is made of the code into the places that a page has for it, and plots to tables."""
    made = _MARK.sub(lambda mark: MADE[mark[1]](), markdown)
    return plots.with_plots(page.file.src_uri, made)


def on_post_build(config: MkDocsConfig) -> None:
    """Fail for what ``links.faults`` finds."""
    found = links.faults(Path(config.site_dir))
    if found:
        raise PluginError("\n".join(["the site has faults:", *found]))
