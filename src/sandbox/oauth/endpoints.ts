import { answerAuthorize, type ConsentWorld } from './authorize.ts';
import type { OAuthAnswer, OAuthRequest } from './http.ts';
import type { OAuthState } from './state.ts';
import { answerRevoke, answerToken, json } from './token.ts';

/** The OAuth endpoints (service.md#oauth); undefined for a path that is none of them. */
export function answerOAuth(state: OAuthState, request: OAuthRequest, world: ConsentWorld): OAuthAnswer | undefined {
  const { method } = request;
  switch (request.url.pathname) {
    case '/oauth/platform/authorize':
      if (method === 'GET' || method === 'POST') return answerAuthorize(state, request, world);
      return notAllowed('GET, POST');
    case '/oauth/platform/token':
      return method === 'POST' ? answerToken(state, request, world) : notAllowed('POST');
    case '/oauth/platform/revoke':
      return method === 'POST' ? answerRevoke(state, request) : notAllowed('POST');
    default:
      return undefined;
  }
}

const notAllowed = (allow: string): OAuthAnswer =>
  json(405, { error: 'invalid_request', error_description: `The method must be ${allow}.` }, { allow });
