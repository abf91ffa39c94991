import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Answer, type Attempt, send } from './attempt.ts';

/** The boot listener has no credentials: it must have nothing to give away. */
export function attemptsAtBoot(url: string, mac: string): Attempt[] {
  const get = (route: string, path: string, how: string, shut?: number[]): Attempt => ({
    route: `GET ${route}`,
    credential: shut === undefined ? 'open' : 'none',
    how,
    ...(shut !== undefined && { shut }),
    send: () => raw(url, 'GET', path),
  });
  const image = '/images/sha256/<digest>';
  const menu = '/grub/menu/<mac>/<cpu>/<uuid>';
  const whole = `${image}/ramdisk.efi`;
  return [
    get('/boot.ipxe', '/boot.ipxe', 'the same for everybody'),
    get('/ipxe/autoexec.ipxe', '/ipxe/autoexec.ipxe', 'the same for everybody'),
    get('/healthz', '/healthz', 'that it is there'),
    get('/ipxe', '/ipxe', 'no MAC', [400]),
    get('/ipxe', `/ipxe?mac=${mac}&buildarch=x86_64`, "another machine's script, from another address"),
    get('/ipxe/<file>', '/ipxe/snponly.efi', 'a loader'),
    get('/ipxe/<file>', '/ipxe/../config.toml', 'a way out of the folder', [404]),
    get('/ipxe/<file>', '/ipxe/%2e%2e%2fconfig.toml', 'the same, encoded', [404]),
    get('/ipxe/<file>', '/shim/../config.toml', 'the same from the folder of shim', [404]),
    get('/grub/grub.cfg', '/grub/grub.cfg', 'the same for everybody'),
    get(menu, '/grub/menu/x/x86_64/', 'no MAC', [400]),
    get(menu, `/grub/menu/${mac}/x86_64/`, "another machine's menu, from another address"),
    get(whole, `/images/sha256/${'0'.repeat(64)}/ramdisk.efi`, 'a digest that is not here', [404]),
    get(image, `/images/sha256/${'0'.repeat(64)}`, 'a digest that is not here', [404]),
    get('/media/<token>.iso', `/media/${'0'.repeat(32)}.iso`, 'a guessed token', [404]),
    get(image, '/images/sha256/../../state.db', 'a way out of the folder', [404]),
    { ...get('/ipxe', '/ipxe', 'another method', [400]), send: () => raw(url, 'POST', `/ipxe?mac=${mac}`) },
  ];
}

const adminPaths: Record<string, string> = {
  'GET /healthz': '/healthz',
  'GET /metrics': '/metrics',
  'GET /v1/status': '/v1/status',
  'GET /v1/machines': '/v1/machines',
  'GET /v1/discovery': '/v1/discovery',
  'GET /v1/machines/:mac': '/v1/machines/02:00:00:00:00:01',
  'GET /v1/inventory/images': '/v1/inventory/images',
  'GET /v1/cache': '/v1/cache',
  'GET /v1/cache/images/:image': `/v1/cache/images/${'1'.repeat(64)}`,
};

/** What changes the cache, ends what an operator was asked, and shows packets: the local socket has it alone. */
const changingPaths: Record<string, string> = {
  ...Object.fromEntries(
    ['pull', 'pin', 'unpin', 'verify', 'evict'].map((act) => [
      `POST /v1/cache/images/:image/${act}`,
      `/v1/cache/images/${'1'.repeat(64)}/${act}`,
    ]),
  ),
  'POST /v1/cache/gc': '/v1/cache/gc',
  'GET /v1/trace/:mac': '/v1/trace/02:00:00:00:00:01',
  'GET /v1/trace/:mac/packets': '/v1/trace/02:00:00:00:00:01/packets',
  'POST /v1/cache/import': '/v1/cache/import',
  'POST /v1/bmc/:nodeId/redfish': '/v1/bmc/node-1/redfish',
  'POST /v1/nodes/:nodeId/confirm': '/v1/nodes/node-1/confirm',
  'POST /v1/nodes/:nodeId/console': '/v1/nodes/node-1/console',
  'POST /v1/nodes/:nodeId/recording': '/v1/nodes/node-1/recording',
  'POST /v1/nodes/:nodeId/recording/end': '/v1/nodes/node-1/recording/end',
  'POST /v1/nodes/:nodeId/trust-bmc': '/v1/nodes/node-1/trust-bmc',
};

/** The admin listener only reads, tells no secret, and knows no other method. */
export function attemptsAtAdmin(url: string): Attempt[] {
  return Object.entries(adminPaths).flatMap(([route, path]): Attempt[] => [
    { route, credential: 'open', how: 'no secret', send: () => send(route, url, { path }) },
    ...['POST', 'DELETE'].map(
      (method): Attempt => ({
        route,
        credential: 'none',
        how: `${method} instead`,
        shut: [404],
        send: () => send(`${method} ${path}`, url),
      }),
    ),
  ]);
}

/** Every route of the local socket as another user. `ask` asks as that user; 0: he could not even connect. */
export function attemptsAtSocket(ask: (method: string, path: string) => Promise<Answer>): Attempt[] {
  return Object.entries({ ...adminPaths, ...changingPaths }).map(([route, path]) => ({
    route,
    credential: 'foreign',
    how: 'another user of the host',
    shut: [0, 403],
    send: () => ask(route.split(' ')[0] ?? '', path),
  }));
}

/** A request whose path is sent as it is written. */
function raw(url: string, method: string, path: string): Promise<Answer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const asking = request(
      { hostname, port, method, path, agent: false, localAddress: '127.0.0.9' },
      (answer) =>
        text(answer).then((body) => resolve({ status: answer.statusCode ?? 0, text: body }), reject),
    );
    asking.once('error', reject).end();
  });
}
