"""What mkdocs calls: adds the pages made from the code, and looks at the site when it is built."""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from tools.site import blocks, links, made, messages, pictures, plots, reference, server_configs


def generated() -> dict[str, str]:
    """Path below ``docs/`` → text of every page that no file has."""
    found = messages.pages()
    texts = {page.path: messages.page_text(page) for page in found}
    texts[f"{messages.FOLDER}/index.md"] = messages.index_text(found)
    texts[f"{reference.FOLDER}/error-codes.md"] = reference.errors_text()
    texts[f"{reference.FOLDER}/kap.md"] = reference.commands_text()
    texts |= {page.path: reference.api_text(page) for page in reference.API_PAGES}
    texts[server_configs.PATH] = server_configs.text()
    texts[blocks.PATH] = blocks.text()
    texts["stylesheets/pictures.css"] = pictures.site_style()
    return texts


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    for path, text in generated().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put what is made of the code into the places that a page has for it, and plots to tables."""
    return plots.with_plots(page.file.src_uri, made.with_made(markdown))


def on_post_build(config: MkDocsConfig) -> None:
    """Fail for what ``links.faults`` finds."""
    found = links.faults(Path(config.site_dir))
    if found:
        raise PluginError("\n".join(["the site has faults:", *found]))
