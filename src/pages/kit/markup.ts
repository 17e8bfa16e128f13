/** Elements at the beginning of every served page, which `lock` and `kit/api.ts` use. */

/** The head of a page. */
export const header = (title: string, more = ''): string =>
  `<header><h1>${title}</h1><span id="name"></span>${more}<span id="live" role="status"></span></header>`;

/** The form that asks for the key of the server, in place of the page. */
export const keyForm = (text: string): string =>
  `<form id="locked" class="panel" hidden><label for="key">${text}</label>
<div class="row"><input id="key" type="password" autocomplete="off"><button>Open</button></div></form>`;
