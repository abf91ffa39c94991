import { groups } from '#central/groups/index.ts';
import { examples } from '../../central/access/examples.ts';
import { type Attempt, send } from './attempt.ts';

export interface ApiTokens {
  expired: string;
  revoked: string;
  /** May do one thing in one tenant, and none of what is tried. */
  stolen: string;
  /** Of another centre. */
  foreign: string;
}

/** A call of each method is well-formed, on things that need not be there: who calls is decided first. */
const world = {
  siteId: 'site_00000000000000000000000000',
  imageId: 'img_00000000000000000000000000',
  poolId: 'pool_00000000000000000000000000',
  nodeId: 'node-none',
  workflowId: 'wf_00000000000000000000000000',
  tokenId: 'tok_00000000000000000000000000',
  profile: {},
} as never;

/** Every method by every token that is not good for it. */
export function attemptsAtApi(url: string, tokens: ApiTokens): Attempt[] {
  const methods = Object.entries(groups).flatMap(([group, members]) =>
    Object.keys(members).map((name) => ({
      route: `POST /api/compute/${group}/${name}`,
      name: `${group}.${name}`,
    })),
  );
  const calls = methods.flatMap(({ route, name }) => {
    const body = examples[name]?.(world) ?? {};
    const by = (credential: Attempt['credential'], how: string, bearer?: string): Attempt => ({
      route,
      credential,
      how,
      send: () => send(route, url, { bearer, body }),
    });
    return [
      by('none', 'no token'),
      by('stale', 'an expired token', tokens.expired),
      by('stale', 'a revoked token', tokens.revoked),
      by('stolen', "a tenant's token for something else", tokens.stolen),
      by('foreign', "another centre's token", tokens.foreign),
    ];
  });
  const unpublished: Attempt = {
    route: 'GET /bcd/:digest',
    credential: 'none',
    how: 'a digest that is not published',
    shut: [404],
    send: () => send('GET /bcd/:digest', url, { path: `/bcd/${'0'.repeat(64)}` }),
  };
  const wayOut: Attempt = {
    route: 'GET /docs/static/*',
    credential: 'none',
    how: 'a way out of the folder',
    shut: [400, 403, 404],
    send: () => send('GET /docs/static/*', url, { path: '/docs/static/%2e%2e%2f%2e%2e%2fpackage.json' }),
  };
  return [...calls, ...openPages(url), wayOut, unpublished];
}

/** What everybody may read: the schemas, and the page that shows them. */
const pages: Record<string, string> = {
  'GET /openapi.json': '/openapi.json',
  'GET /docs': '/docs',
  'GET /docs/json': '/docs/json',
  'GET /docs/yaml': '/docs/yaml',
  'GET /docs/static/index.html': '/docs/static/index.html',
  'GET /docs/static/swagger-initializer.js': '/docs/static/swagger-initializer.js',
  'GET /docs/static/*': '/docs/static/swagger-ui.css',
  'HEAD /docs/static/*': '/docs/static/swagger-ui.css',
};

function openPages(url: string): Attempt[] {
  return Object.entries(pages).map(([route, path]) => ({
    route,
    credential: 'open',
    how: 'the schemas alone',
    send: () => send(route, url, { path }),
  }));
}
