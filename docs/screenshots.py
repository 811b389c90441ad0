"""Pictures of the demo's report for the guide.

`make demo`, then `python docs/screenshots.py mvrbm-demo/report.html`.
"""

import io
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

TALLEST = 900
SECTIONS = ("map", "patterns", "told", "together", "blanks", "training")


def main(report: str) -> None:
    """Photograph the upper part of each section, in few colours, into report-SECTION.png beside this file."""
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 900, "height": 12000})
        page.goto(Path(report).resolve().as_uri())
        page.wait_for_selector("#question")
        page.select_option("#question", label="Political views")
        for name in SECTIONS:
            picture = Image.open(io.BytesIO(page.locator(f"section#{name}").screenshot())).convert("RGB")
            cut = picture.crop((0, 0, picture.width, min(picture.height, TALLEST)))
            cut.quantize(48).save(Path(__file__).with_name(f"report-{name}.png"), optimize=True)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
