"""The hooks of mkdocs: they add pages that are made from the code, and check the built site."""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from tools.site import links
from tools.site.inserts.places import with_inserts
from tools.site.pages import code_blocks, messages, reference, server_configs
from tools.site.pictures import plots, svg


def generated() -> dict[str, str]:
    """Path below ``docs/`` → text of every page that no file has."""
    found = messages.pages()
    texts = {page.path: messages.page_text(page) for page in found}
    texts[f"{messages.FOLDER}/index.md"] = messages.index_text(found)
    texts[f"{reference.FOLDER}/error-codes.md"] = reference.errors_text()
    texts[f"{reference.FOLDER}/kap.md"] = reference.commands_text()
    texts |= {page.path: reference.api_text(page) for page in reference.API_PAGES}
    texts[server_configs.PATH] = server_configs.text()
    texts[code_blocks.PATH] = code_blocks.text()
    texts["stylesheets/pictures.css"] = svg.site_style()
    return texts


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    for path, text in generated().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Fill the places that a page has for what is made of the code; put plots behind its tables."""
    return plots.with_plots(page.file.src_uri, with_inserts(markdown))


def on_post_build(config: MkDocsConfig) -> None:
    """Fail for what ``links.faults`` finds."""
    found = links.faults(Path(config.site_dir))
    if found:
        raise PluginError("\n".join(["the site has faults:", *found]))
