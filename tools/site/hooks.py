"""The hooks of mkdocs: they add pages that are made from the code, and check the built site."""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.utils.templates import TemplateContext

from tools.site import links, neighbours, search_weights, wrapping
from tools.site.generated import generated
from tools.site.inserts.places import with_inserts
from tools.site.markdown import without_checkout_notes
from tools.site.pages import proposals
from tools.site.pictures import plots


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    for path, text in generated().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_nav(nav: Navigation, config: MkDocsConfig, files: Files) -> Navigation:
    """Say where pages that it does not list are."""
    neighbours.place(files)
    return nav


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Leave out what is for a checkout, fill the places for what is made of the code, add plots,
    link lines of the proposals, and weigh the page for the search.
    """
    path = page.file.src_uri
    page.meta["search"] = {"boost": search_weights.weight(path)}
    filled = with_inserts(without_checkout_notes(markdown))
    return plots.with_plots(path, proposals.with_links(path, filled))


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let long words of tables wrap."""
    return wrapping.with_breaks(html)


def on_page_context(
    context: TemplateContext, page: Page, config: MkDocsConfig, nav: Navigation
) -> TemplateContext:
    """List what is beside the page in its sidebar."""
    neighbours.fill_sidebar(page, nav)
    return context


def on_post_build(config: MkDocsConfig) -> None:
    """Fail for what ``links.faults`` finds."""
    found = links.faults(Path(config.site_dir))
    if found:
        raise PluginError("\n".join(["the site has faults:", *found]))
