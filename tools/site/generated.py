"""The pages that are made from the code; mkdocs is not needed for them."""

from __future__ import annotations

from tools.site.pages import code_blocks, messages, proposals, reference, server_configs
from tools.site.pictures import svg


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
    texts |= proposals.pages()
    texts["stylesheets/pictures.css"] = svg.site_style()
    return texts
