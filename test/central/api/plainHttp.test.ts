import { expect, test } from 'vitest';
import { refusePlainHttp } from '#central/api/plainHttp.ts';

test.each(['127.0.0.1', '127.77.0.1', '::1', 'localhost'])('plain HTTP on %s needs no word', (host) => {
  expect(() => refusePlainHttp({ host })).not.toThrow();
});

test.each(['0.0.0.0', '::', '10.79.0.2', 'fd00::1', 'central.example.com', '128.0.0.1'])(
  'plain HTTP on %s is refused unless somebody says that a proxy stands before it',
  (host) => {
    expect(() => refusePlainHttp({ host })).toThrow(
      expect.objectContaining({
        code: 'INVALID_CONFIG',
        details: { path: 'api', reason: 'plain-http', host },
      }),
    );
    expect(() => refusePlainHttp({ host, plain: true })).not.toThrow();
    expect(() => refusePlainHttp({ host, tls: true })).not.toThrow();
  },
);
