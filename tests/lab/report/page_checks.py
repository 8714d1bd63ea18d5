"""What is wrong with a page of a report, as Chromium shows it: scripts whose answer is an empty list where all is well."""
import shutil

from playwright.sync_api import sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

# Texts of drawings that overlap one another, or leave their drawing. A pixel of tolerance for the edges of glyphs.
OVERLAPS = """() => {
  const found = [];
  for (const svg of document.querySelectorAll('figure svg[role=img]')) {
    const frame = svg.getBoundingClientRect();
    if (frame.width === 0) continue;
    const boxes = [...svg.querySelectorAll('text')].map(t => [t.firstChild ? t.firstChild.textContent : '', t.getBoundingClientRect()]);
    for (const [text, box] of boxes)
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 2 || box.bottom > frame.bottom + 2)
        found.push(`${svg.querySelector('title').textContent}: "${text}" leaves the drawing`);
    for (let a = 0; a < boxes.length; ++a)
      for (let b = a + 1; b < boxes.length; ++b) {
        const [one, two] = [boxes[a][1], boxes[b][1]];
        const wide = Math.min(one.right, two.right) - Math.max(one.left, two.left);
        const high = Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top);
        if (wide > 1 && high > 3) found.push(`${svg.querySelector('title').textContent}: "${boxes[a][0]}" and "${boxes[b][0]}"`);
      }
  }
  return found;
}"""

# Ticks of one axis that read the same: their texts were rounded away.
SAME_TICKS = """() => {
  const found = [];
  for (const svg of document.querySelectorAll('figure svg[role=img]')) {
    const axes = {};
    for (const t of svg.querySelectorAll('text.tick')) {
      const axis = t.getAttribute('text-anchor') === 'end' ? 'y' : 'x';
      (axes[axis] ||= []).push(t.textContent);
    }
    for (const [axis, texts] of Object.entries(axes))
      if (new Set(texts).size < texts.length) found.push(`${svg.querySelector('title').textContent}, ${axis}: ${texts}`);
  }
  return found;
}"""

# Drawings without anything drawn, and tables without rows.
EMPTY = """() => [...document.querySelectorAll('figure svg[role=img]')].filter(s => !s.querySelector('path, rect, circle, line'))
  .map(s => s.querySelector('title').textContent).concat([...document.querySelectorAll('table')]
  .filter(t => !t.querySelector('tbody tr')).map(t => t.querySelector('caption').textContent))"""

# Elements that reach out of the page; what scrolls within itself may.
OVERFLOWS = """() => {
  const width = document.documentElement.clientWidth, found = [];
  for (const e of document.querySelectorAll('body *')) {
    if (e.closest('.scroll table, pre code, caption, svg')) continue;
    const box = e.getBoundingClientRect();
    if (box.width > 0 && (box.right > width + 0.5 || box.left < -0.5)) found.push(`${e.tagName}.${e.className}: ${box.left} to ${box.right}`);
  }
  if (document.documentElement.scrollWidth > width) found.push(`the page is ${document.documentElement.scrollWidth} wide`);
  return found;
}"""

# The contrast of every visible text with the colour behind it (WCAG 2), the worst first.
CONTRAST = """() => {
  const channel = v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
  const parse = c => { const m = c.match(/[\\d.]+/g).map(Number); return {rgb: m.slice(0, 3), a: m.length > 3 ? m[3] : 1}; };
  const luminance = rgb => 0.2126 * channel(rgb[0]) + 0.7152 * channel(rgb[1]) + 0.0722 * channel(rgb[2]);
  const ratio = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  const behind = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.a > 0) return c.rgb; } return [255, 255, 255]; };
  const out = [];
  for (const e of document.querySelectorAll('body *')) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())) continue;
    if (e.closest('title, desc') || e.getBoundingClientRect().width === 0) continue;
    const style = getComputedStyle(e), drawn = e.tagName === 'text';
    let back = behind(e);
    if (drawn && e.classList.contains('on')) back = parse(getComputedStyle(e.previousElementSibling).fill).rgb;
    out.push([ratio(parse(drawn ? style.fill : style.color).rgb, back), e.tagName + '.' + (e.getAttribute('class') || '') + ' ' + e.textContent.trim().slice(0, 30)]);
  }
  return out.sort((a, b) => a[0] - b[0]).slice(0, 5);
}"""


def start_chromium():
    """Playwright and a browser; both want to be stopped. As root Chromium does not start in its sandbox; the pages are
    our own."""
    playwright = sync_playwright().start()
    return playwright, playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
