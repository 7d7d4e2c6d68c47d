import client from './client.js?raw';
import html from './page.html?raw';
import style from './style.css?raw';

/** What the inspector's page is made of. Everything comes from here: it works without a network. */
export const assets: Readonly<Record<string, { readonly type: string; readonly text: string }>> = {
  '/': { type: 'text/html; charset=utf-8', text: html },
  '/client.js': { type: 'text/javascript; charset=utf-8', text: client },
  '/style.css': { type: 'text/css; charset=utf-8', text: style },
};
