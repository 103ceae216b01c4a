#!/usr/bin/env python3
"""Drives the page of `ingot serve` in headless Chromium and says what does not hold.

    apt-get install chromium chromium-driver && pip install selenium axe-core-python
    python tools/page_check.py http://127.0.0.1:8080 [--pictures FOLDER]

Types, streams, stops, regenerates, edits, reloads; hostile text of a model; keyboard;
phone, dark and light; axe-core; errors on the console; requests to others.
"""

import argparse
import json
import pathlib
import sys
import time

import axe_core_python
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

HOSTILE = """<script>document.title = "hacked"</script><img src="http://evil.example/x.png" onerror="document.title='hacked'">
[click](javascript:document.title='hacked') [there](https://example.org/a) ![x](http://evil.example/y.png)

# Heading <b>bold</b>
- **strong *em* `code <i>`** ~~gone~~
1. one

| a | b |
|---|---|
| <u>c</u> | d |

```html
<style>body { display: none }</style>
```
> quoted <iframe src="http://evil.example"></iframe>
"""
AXE = next(pathlib.Path(axe_core_python.__file__).parent.glob("**/axe*.js"))


class Page:
    def __init__(self, address, pictures):
        options = webdriver.ChromeOptions()
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1200,800"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.browser = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))
        self.address, self.pictures, self.failures, self.requests = address, pictures, 0, set()

    def check(self, holds, what):
        print(("ok      " if holds else "FAILED  ") + what, flush=True)
        self.failures += not holds

    def until(self, fact, what, seconds=30):
        end = time.time() + seconds
        while not fact() and time.time() < end:
            time.sleep(0.05)
        self.check(bool(fact()), what)

    def slow(self, bytes_a_second):  # so that even a quick model can be stopped; -1: no limit
        self.browser.execute_cdp_cmd("Network.enable", {})
        limits = {"offline": False, "latency": 0, "downloadThroughput": bytes_a_second, "uploadThroughput": -1}
        self.browser.execute_cdp_cmd("Network.emulateNetworkConditions", limits)

    def open(self):
        self.browser.get(self.address)
        self.until(lambda: self.one("#model").text, "the model's name is shown")

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def press(self, label, within="#log article:last-child"):
        next(button for button in self.all(within + " button") if button.text == label).click()

    def last(self):
        return self.all("#log .body")[-1].text if self.all("#log .body") else ""

    def is_writing(self):
        return self.one("#stop").is_displayed()

    def say(self, text):
        self.one("#text").send_keys(text, Keys.ENTER)

    def picture(self, name):
        if self.pictures:
            self.browser.save_screenshot(str(self.pictures / f"{name}.png"))

    def axe(self, when):
        self.browser.execute_script(AXE.read_text())
        found = self.browser.execute_async_script("const done = arguments[0]; axe.run().then(done)")["violations"]
        self.check(not found, f"axe-core finds nothing {when}: " + ", ".join(one["id"] for one in found))
        for one in found:
            print(json.dumps([one["help"], [node["html"][:200] for node in one["nodes"]]]))

    def note_requests(self):
        for entry in self.browser.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                self.requests.add(message["params"]["request"]["url"])


def run(page):
    page.open()
    page.axe("on an empty page")
    page.slow(3000)
    page.say("Tell me about the cat.")
    page.until(page.is_writing, "a reply begins")
    page.until(lambda: len(page.last()) > 20, "it streams")
    page.check(page.is_writing(), "and is still being written then")
    page.picture("writing")
    page.one("#stop").click()
    page.until(lambda: not page.is_writing(), "it stops")
    page.check("Stopped." in page.one("#log").text, "and says so")
    stopped = page.last()
    page.press("Regenerate")
    page.until(lambda: page.is_writing() and len(page.last()) > 20, "regenerate writes another")
    page.one("#text").send_keys(Keys.ESCAPE)
    page.until(lambda: not page.is_writing(), "Escape stops it")
    page.check(len(page.all("#log article")) == 2 and page.last() != stopped, "in the place of the first")
    page.press("Edit", "#log article:first-child")
    area = page.one("#log textarea")
    page.check(page.browser.switch_to.active_element == area, "the edited message has the focus")
    area.clear()
    area.send_keys("Another question")
    page.press("Send", "#log article:first-child")
    page.until(lambda: page.is_writing() and len(page.last()) > 5, "an edited message is answered")
    page.one("#stop").click()
    page.until(lambda: not page.is_writing(), "and stops")
    page.check(page.all("#log .body")[0].text == "Another question", "the edited text stands")
    page.press("Copy")
    page.slow(-1)
    before = page.one("#log").text
    page.open()
    page.check(page.one("#log").text == before, "a reload keeps the conversation")
    page.one("#options summary").click()
    page.one("#max_tokens").send_keys("5")
    page.one("#temperature").clear()
    page.one("#temperature").send_keys("0", Keys.TAB)
    page.picture("settings")
    page.axe("with settings open")
    page.say("Once more")
    page.until(lambda: "Cut:" in page.one("#log").text and not page.is_writing(), "a reply ends after so many tokens")

    hostile = [{"id": "h", "title": "<b>h</b>", "messages": [{"role": "user", "content": HOSTILE}, {"role": "assistant", "content": HOSTILE}]}]
    page.browser.execute_script("localStorage.setItem('ingot.talks', arguments[0]); localStorage.setItem('ingot.open', '\"h\"')", json.dumps(hostile))
    page.open()
    inside = "#log img, #log script, #log iframe, #log style, #log b, #log i, #log u, #log [onerror], #log [src]"
    page.check(not page.all(inside), "hostile text makes no element")
    page.check(page.browser.title == "Ingot chat", "and runs nothing")
    links = [link.get_attribute("href") for link in page.all("#log a")]
    page.check(links == ["https://example.org/a", "http://evil.example/y.png"], f"links are http and https alone: {links}")
    page.check(bool(page.all("#log table td") and page.all("#log pre code") and page.all("#log strong em")), "Markdown is shown")
    page.picture("markdown")
    page.axe("with Markdown")
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
    page.axe("in the dark")
    page.picture("dark")
    page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 390, "height": 800, "deviceScaleFactor": 2, "mobile": True})
    page.check(page.browser.execute_script("return document.documentElement.scrollWidth <= innerWidth"), "a phone need not scroll sideways")
    page.picture("phone")
    page.one("#menu").click()
    page.check(page.one("#new").is_displayed(), "a phone has the menu")
    page.axe("on a phone")
    page.picture("phone_menu")
    page.note_requests()
    foreign = [url for url in page.requests if not url.startswith((page.address, "data:"))]
    page.check(not foreign, f"nobody else is asked: {foreign}")
    errors = [entry["message"] for entry in page.browser.get_log("browser") if entry["level"] == "SEVERE"]
    page.check(not errors, f"no error on the console: {errors}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("address")
    parser.add_argument("--pictures", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.pictures:
        arguments.pictures.mkdir(parents=True, exist_ok=True)
    page = Page(arguments.address, arguments.pictures)
    try:
        run(page)
    finally:
        page.browser.quit()
    sys.exit(page.failures > 0)


if __name__ == "__main__":
    main()
