import client from './client.js?raw';
import html from './page.html?raw';
import style from './style.css?raw';

type Asset = { readonly type: string; readonly text: (key: string) => string };

/** What the inspector's page is made of, for the key of this run. Everything comes from here: it needs no network. */
export const assets: Readonly<Record<string, Asset>> = {
  '/': { type: 'text/html; charset=utf-8', text: (key) => html.replaceAll('?key', `?key=${encodeURIComponent(key)}`) },
  '/client.js': { type: 'text/javascript; charset=utf-8', text: () => client },
  '/style.css': { type: 'text/css; charset=utf-8', text: () => style },
};
