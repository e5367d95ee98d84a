"""Execute a notebook against one scale's results; keep it, and a page that needs no network to be read."""

import re
from pathlib import Path


def execute(source: Path, target: Path, page: Path, results: Path) -> None:
    import papermill
    from nbconvert import HTMLExporter

    papermill.execute_notebook(
        str(source),
        str(target),
        parameters={"results": str(results)},
        progress_bar=False,
        log_output=False,
        extra_arguments=["--log-level=ERROR"],  # a kernel warns of its local port every time
    )
    exporter = HTMLExporter(mathjax_url="", require_js_url="", jquery_url="", embed_images=True)
    html, _ = exporter.from_filename(str(target))
    page.write_text(without_remote_scripts(html))


def without_remote_scripts(html: str) -> str:
    """Drop whatever nbconvert's template would load when the page is opened (MathJax, require.js, mermaid)."""
    html = re.sub(r"<script[^>]*\bsrc=\"[^\"]*\"[^>]*>\s*</script>", "", html)
    html = re.sub(r"<script type=\"module\">.*?</script>", "", html, flags=re.S)
    return re.sub(r"<!-- Load mathjax -->.*?<!-- End of mathjax configuration -->", "", html, flags=re.S)
