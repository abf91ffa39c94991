import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { readRequest } from '#bootserver/http/request.ts';
import { routeOf } from '#bootserver/http/route.ts';
import { bootRoutes } from '#bootserver/http/routes.ts';
import { text } from '../inputs.ts';
import type { FuzzTarget } from '../target.ts';

// Only the patterns are asked: no route is answered.
const routes = bootRoutes({ httpUrl: 'http://10.0.0.1:8080', script: '#!ipxe' } as never);
const digest = 'ab'.repeat(32);

/** A request's first line and headers, a line each: what the boot listener reads of them. */
export const target: FuzzTarget = {
  seeds: [
    'GET /boot.ipxe',
    'HEAD //ipxe//snponly.efi\nbytes=0-1023\n"tag"\n*',
    `GET /images/sha256/${digest}/sections/linux?x=1\nbytes=-5\nW/"a"\n"a", "b"`,
    'GET /ipxe?mac=02:00:00:00:00:01&uuid=&buildarch=x86_64',
    'GET /%2e%2e/%00%ff',
    'POST /',
    'GET http://x/',
  ].map(text),
  longest: 16_384,
  run(input) {
    const [first = '', range, ifRange, ifNoneMatch] = input.toString('latin1').split('\n');
    const [method, url] = first.split(' ');
    const headers = { range, 'if-range': ifRange, 'if-none-match': ifNoneMatch };
    const request = readRequest({ method, url, headers, socket: {} } as unknown as IncomingMessage);
    if (request === undefined) return;
    assert(request.path.startsWith('/') && !request.path.includes('//'));
    routeOf(routes, request.path);
  },
};
