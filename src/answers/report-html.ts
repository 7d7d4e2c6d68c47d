import { type Html, html } from '../text/markup.ts';
import { sanitize } from '../text/sanitize.ts';
import type { FigureName } from './figures.ts';
import { page } from './page.ts';
import type { Report, Shown, Value } from './report.ts';
import {
  changeText,
  copyTexts,
  hasNumbers,
  nameOf,
  periodText,
  shownFigures,
  titleOf,
  valueText,
} from './report-words.ts';

const style = `
.grid { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); align-items: start; margin-top: 1.5rem; }
section { border: 1px solid var(--line); border-radius: .5rem; padding: 1rem; background: var(--card); min-width: 0; }
section h2 { margin: 0 0 .5rem; }
.wide { grid-column: 1 / -1; }
td.change { color: var(--soft); text-align: right; overflow-wrap: normal; }
.name { display: inline-block; min-width: 6.5rem; }
.nowrap { white-space: nowrap; }
tr:last-child td { border-bottom: 0; }
td.bar { width: 40%; }
svg { display: block; width: 100%; }
td.bar svg { height: 1rem; margin-top: .25rem; }
.line svg { height: 9rem; }
.fill { fill: var(--main); }
.past { fill: var(--other); }
.axis { stroke: var(--line); stroke-width: 1; }
.ends { display: flex; justify-content: space-between; gap: 1rem; font-size: .85rem; }
@media (max-width: 30rem) { section { padding: .75rem; } td.bar { width: 18%; } td, th { padding-right: .3rem; } .name { min-width: 5.4rem; } td.number, td.change { font-size: .85rem; } }
@media print { .grid { grid-template-columns: repeat(2, 1fr); } .line svg { height: 5rem; } }
`;

/** The report as one file: inline SVG, no script, nothing that is loaded. */
export function reportHtml(report: Report): string {
  const { zone, before } = report;
  const beside = before ? `, beside ${periodText(before, zone)}` : '';
  const body = html`<h1>Report: ${periodText(report, zone)}</h1>
<p class="soft">Time zone ${zone}${beside}</p>
${copyTexts(report).map((text) => html`<p class="soft">${text}</p>`)}
<div class="grid">
${shownFigures(report).map(([name, figure]) => (figure.drawn === 'line' ? line([name, figure], report) : table(name, figure)))}
</div>`;
  return page(`Report: ${periodText(report, zone)}`, body, style);
}

function table(name: FigureName, figure: Shown): Html {
  const isDrawn = figure.drawn === 'bars';
  const most = Math.max(1, ...figure.values.flatMap(({ value, before }) => [value ?? 0, before ?? 0]));
  const isCompared = figure.values.some(({ before }) => before !== null);
  const isNumbered = hasNumbers(figure);
  return html`<section><h2>${figure.title}</h2>
<table>${figure.values.map(
    (
      value,
    ) => html`<tr><td><span class="name">${sanitize(nameOf(name, value))}</span></td>${isDrawn && html`<td class="bar">${bar(value, most)}</td>`}${
      isNumbered && html`<td class="number">${valueText(figure, value.key, value.value)}</td>`
    }${isCompared && html`<td class="change">${changed(figure, value)}</td>`}</tr>
`,
  )}</table></section>`;
}

/** A line may end before the part in brackets, and nowhere else. */
function changed(figure: Shown, value: Value): Html {
  const [first, part] = changeText(figure, value).split(' (');
  return html`<span class="nowrap">${first}</span>${part !== undefined && html` <span class="nowrap">(${part}</span>`}`;
}

/** Of 100 units; the bar of before lies below it. */
function bar({ value, before }: Value, most: number): Html {
  const length = (size: number | null) => (((size ?? 0) / most) * 100).toFixed(2);
  return html`<svg viewBox="0 0 100 12" preserveAspectRatio="none" role="presentation" aria-hidden="true">${
    before !== null && html`<rect class="past" x="0" y="8" width="${length(before)}" height="4"/>`
  }<rect class="fill" x="0" y="0" width="${length(value)}" height="${before === null ? 12 : 7}"/></svg>`;
}

function line([name, figure]: readonly [FigureName, Shown], report: Report): Html {
  const { values } = figure;
  const most = Math.max(1, ...values.map(({ value }) => value ?? 0));
  const [first = '', last = ''] = [values[0], values.at(-1)].map((one) => one && nameOf(name, one));
  const step = 600 / Math.max(1, values.length);
  const columns = values.map((one, at) => {
    const height = ((one.value ?? 0) / most) * 100;
    const width = Math.max(step - 2, step / 2);
    return html`<rect class="fill" x="${(at * step).toFixed(2)}" y="${(100 - height).toFixed(2)}" width="${width.toFixed(2)}" height="${height.toFixed(2)}"><title>${nameOf(name, one)}: ${one.value ?? 0}</title></rect>`;
  });
  const title = `${titleOf([name, figure], report)}, ${most} at most`;
  return html`<section class="wide line"><h2>${title}</h2>
<svg viewBox="0 0 600 101" preserveAspectRatio="none" role="img" aria-label="${title}">${columns}<line class="axis" x1="0" y1="100.5" x2="600" y2="100.5"/></svg>
<div class="ends soft"><span>${first}</span><span>${last}</span></div></section>`;
}
