/** Addresses of pages that went, and where what stood there is now. The site has a small page at each of them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { linkOf } from './sidebar.ts';

/** Where a page went: a file from the root of the repository, with the anchor of a heading. */
interface Redirect {
  readonly to: string;
  /** Anchors of the page that went, each with its place where that is not `to`. */
  readonly anchors: Readonly<Record<string, string>>;
}

/** Headings that have kept their names, and those that have others. */
const moved = (to: string, kept: readonly string[] = [], others: Readonly<Record<string, string>> = {}): Redirect => {
  const file = to.split('#')[0]!;
  return { to, anchors: { ...Object.fromEntries(kept.map((anchor) => [anchor, `${file}#${anchor}`])), ...others } };
};

const peer = (anchor: string): Redirect =>
  moved(`docs/adapters/index.md#${anchor}`, [], {
    'what-rollflex-would-add': 'docs/adapters/index.md#trainers-without-an-adapter',
    'what-it-costs': 'docs/adapters/index.md#trainers-without-an-adapter',
    tested: 'docs/adapters/index.md#trainers-without-an-adapter',
  });

/** By their addresses in the site, without its base and `.html`. */
export const redirects: Readonly<Record<string, Redirect>> = {
  advice: moved('docs/your-job.md#in-one-command-advise', [
    'where-prompts-come-several-times',
    'the-search-by-itself-sweep',
    'how-to-read-it',
    'the-objective',
    'limits',
    'why-not-simply-the-fastest-that-was-tried',
    'how-sure-that-is',
    'paste-it',
    'how-long-it-takes-and-how-to-stop-it',
    'what-is-not-searched',
    'what-is-not-modelled',
  ]),
  'agentic-simulation': moved(
    'docs/agentic.md#simulate-your-own-job',
    [
      'your-own-trace',
      'the-engine',
      'named-workloads',
      'rules-for-comparison',
      'what-packing-the-tail-frees',
      'what-it-does-not-say',
    ],
    { 'what-program-scheduling-is-worth': 'docs/agentic.md#what-it-is-worth' },
  ),
  'bad-day': moved('docs/operating.md#on-a-bad-day', ['the-rule-behind-it', 'what-is-left-to-the-host']),
  concepts: moved('docs/embedding.md#terms', [], {
    'to-write-a-policy-sixteen-more': 'docs/writing-a-policy.md#terms',
    'to-operate-a-server-eleven': 'docs/server.md#terms',
  }),
  hangs: moved('docs/explain.md#five-incidents', [
    'a-hole-that-nobody-fills',
    'an-engine-that-has-lost-its-requests',
    'a-slot-that-is-held-by-what-nobody-needs',
    'weights-that-never-arrive',
    'a-round-that-nobody-requests',
    'the-same-in-the-browser',
    'a-run-that-is-only-slow',
    'the-zoo',
    'what-all-share',
  ]),
  'length-prediction': moved('docs/which-tail-policy.md#how-lengths-are-predicted', [
    'what-it-knows',
    'how-well',
    'what-it-costs',
  ]),
  licences: moved('docs/package.md#licences'),
  'long-run': moved('docs/tested.md#a-long-run', [
    'what-is-checked',
    'laws-that-look-ahead',
    'the-server',
    'the-last-run',
    'names-that-never-come-again',
  ]),
  mutation: moved('docs/tested.md#how-strong-the-tests-are', ['what-is-counted', 'by-all-tests', 'the-last-result']),
  papers: moved('docs/reproduction.md#what-does-not-hold-as-written'),
  'peers/areal': peer('areal'),
  'peers/index': moved('docs/adapters/index.md', ['what-each-does-by-itself']),
  'peers/openrlhf': peer('openrlhf'),
  'peers/prime-rl': peer('prime-rl'),
  'peers/skyrl': peer('skyrl'),
  'peers/xtuner': peer('xtuner'),
  'real-runs': moved('docs/tested.md#in-real-training', ['run-it-yourself']),
  size: moved('docs/package.md', ['installing-and-loading']),
};

/** The page at an old address: the reader goes on at once, to the heading that was asked for if it has moved. */
export function redirectPage({ to, anchors }: Redirect, base: string): string {
  const href = (place: string): string => {
    const [file, anchor] = place.split('#') as [string, string?];
    return base.replace(/\/$/, '') + linkOf(file) + (anchor === undefined ? '' : `#${anchor}`);
  };
  const items = Object.entries(anchors).map(([id, place]) => `<li><a id="${id}" href="${href(place)}">${id}</a></li>`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>This page has moved</title>
<meta name="robots" content="noindex">
<link rel="canonical" href="${href(to)}">
<noscript><meta http-equiv="refresh" content="0; url=${href(to)}"></noscript>
</head>
<body>
<p><a href="${href(to)}">This page has moved.</a></p>
<ul>${items.join('')}</ul>
<script>location.replace((document.getElementById(location.hash.slice(1)) || document.querySelector('a')).href);</script>
</body>
</html>
`;
}

/** Writes them into a site that is served under `base`, which begins and ends with a slash. */
export function writeRedirects(site: string, base: string): void {
  for (const [address, redirect] of Object.entries(redirects)) {
    const file = join(site, `${address}.html`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, redirectPage(redirect, base));
  }
}
