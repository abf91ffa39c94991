import { describe, expect, onTestFinished, test } from 'vitest';
import { silentLog } from '#base/log.ts';
import { loopbackCertificate, startSimulatedBmc } from '#rack/bmc/simulatedBmc.ts';
import { openBmc } from '#redfish/bmc.ts';
import { bmcError, type Fault } from '../fakes/fakeBmc.ts';
import { always, atFirst, plainSystem, startBench, user } from './bmcBench.ts';

const systemPath = '/redfish/v1/Systems/1';
const pxeOnce = { device: 'pxe', persistent: false } as const;

describe('R5: bodies', () => {
  const ok = (body: string) => ({ status: 200, body });

  test.each([
    ['a byte order mark', `\uFEFF${JSON.stringify(plainSystem)}`],
    [
      'an entity tag with unescaped quotes',
      `{"@odata.etag": ""a1"",\n${JSON.stringify(plainSystem).slice(1)}`,
    ],
    [
      'an entity tag with unescaped quotes, on one line',
      `{"@odata.etag":""W/'gen-1'"",${JSON.stringify(plainSystem).slice(1)}`,
    ],
  ])('JSON with %s is read', async (_name, body) => {
    const { bmc } = await startBench({}, [always('GET', systemPath, ok(body))]);
    expect(await bmc.getPower()).toBe('off');
  });

  test('an empty 200 to a write is a success', async () => {
    const empty: Fault = (request, fake) => {
      if (request.method !== 'POST' || !request.path.endsWith('Reset')) return undefined;
      fake.system.PowerState = 'On';
      return { status: 200, headers: { 'content-length': '0' } };
    };
    const { bmc } = await startBench({}, [empty]);
    expect(await bmc.setPower('on')).toBe('on');
  });

  test('an error page is told with its status and first words', async () => {
    const page = {
      status: 400,
      headers: { 'content-type': 'text/html' },
      body: '<html>\n<h1>Bad Request</h1></html>',
    };
    const { bmc } = await startBench({}, [always('GET', systemPath, page)]);
    await expect(bmc.getPower()).rejects.toMatchObject({
      message: expect.stringContaining('HTTP 400 to GET /redfish/v1/Systems/1: <html> <h1>Bad Request'),
      details: { reason: 'refused', status: 400, path: systemPath },
    });
  });
});

describe('redirects', () => {
  test('a trailing slash is added where the BMC wants it, for writes too', async () => {
    const slashes: Fault = ({ path }) =>
      path.endsWith('/') || path.includes('Session')
        ? undefined
        : { status: 308, headers: { location: `${path}/` } };
    const { fake, bmc } = await startBench({}, [slashes]);
    expect(await bmc.setPower('on')).toBe('on');
    expect(await bmc.setBootDevice(pxeOnce)).toEqual(pxeOnce);
    expect(fake.boot.BootSourceOverrideTarget).toBe('Pxe');
  });

  test('a redirect to another host is not followed: the credentials are not for it', async () => {
    const away = { status: 307, headers: { location: 'https://127.0.0.1:1/redfish/v1/Systems/1' } };
    const { bmc } = await startBench({}, [always('GET', systemPath, away)]);
    await expect(bmc.getPower()).rejects.toMatchObject({ details: { reason: 'redirect' } });
  });

  test('a loop ends', async () => {
    const loop = { status: 307, headers: { location: systemPath } };
    const { fake, bmc } = await startBench({}, [always('GET', systemPath, loop)]);
    await expect(bmc.getPower()).rejects.toMatchObject({ details: { reason: 'redirect' } });
    expect(fake.requests.filter((one) => one.path === systemPath).length).toBe(4);
  });
});

describe('R6: entity tags', () => {
  /**
   * A system with this tag in header or body, which takes a PATCH only with one of `accepted` as If-Match
   * (undefined: with none).
   */
  function tagged(
    tag: { header?: string; body?: string },
    accepted: (string | undefined)[],
    otherwise = 412,
  ): Fault {
    return (request, bmc) => {
      if (request.path !== systemPath) return undefined;
      const ifMatch = request.headers['if-match'];
      if (request.method === 'PATCH')
        return accepted.includes(ifMatch) ? undefined : { status: ifMatch === undefined ? 428 : otherwise };
      const body = { ...bmc.system, ...(tag.body !== undefined && { '@odata.etag': tag.body }) };
      return { status: 200, body, headers: tag.header === undefined ? {} : { etag: tag.header } };
    };
  }

  test.each([
    ['strong in the header, demanded (Lenovo)', { header: '"a1"' }, ['"a1"']],
    ['weak, wanted whole', { header: 'W/"1682532272"' }, ['W/"1682532272"']],
    ['weak, wanted strong (Gigabyte)', { header: 'W/"1682532272"' }, ['"1682532272"']],
    ['in the body only', { body: 'W/"gen-1"' }, ['W/"gen-1"']],
    ['quoted twice in the body', { body: `"W/'gen-1'"` }, [`W/'gen-1'`]],
    ['empty, refused when sent', { header: '""' }, [undefined]],
    ['none, though one is demanded', {}, ['*']],
    ['refused in every form but *', { header: '"a1"' }, ['*']],
  ])('%s', async (_name, tag, accepted) => {
    const { fake, bmc } = await startBench({}, [tagged(tag, accepted)]);
    expect(await bmc.setBootDevice(pxeOnce)).toEqual(pxeOnce);
    const patches = fake.requests.filter((one) => one.method === 'PATCH');
    expect(patches.length).toBeLessThanOrEqual(4);
    expect(patches.map((one) => one.headers['if-match'])).not.toContain('""');
  });

  test('the form that worked is used first the next time', async () => {
    const { fake, bmc } = await startBench({}, [tagged({ header: 'W/"7"' }, ['"7"'])]);
    await bmc.setBootDevice(pxeOnce);
    const before = fake.sent('PATCH').length;
    await bmc.setBootDevice({ device: 'disk', persistent: true });
    expect(fake.sent('PATCH').length).toBe(before + 1);
  });

  test('a tag that changed between reading and writing (iDRAC) is read anew', async () => {
    let generation = 1;
    const moving: Fault = (request, bmc) => {
      if (request.path !== systemPath) return undefined;
      if (request.method === 'GET')
        return { status: 200, body: bmc.system, headers: { etag: `"g${generation}"` } };
      if (request.headers['if-match'] === `"g${generation}"` && generation > 1) return undefined;
      generation = 2;
      return { status: 412 };
    };
    const { fake, bmc } = await startBench({}, [moving]);
    expect(await bmc.setBootDevice(pxeOnce)).toEqual(pxeOnce);
    expect(
      fake.requests.filter((one) => one.method === 'PATCH').map((one) => one.headers['if-match']),
    ).toEqual(['"g1"', '"g2"']);
  });

  test('a BMC that refuses every form is asked four times', async () => {
    const { fake, bmc } = await startBench({}, [tagged({ header: '"a1"' }, [])]);
    await expect(bmc.setBootDevice(pxeOnce)).rejects.toMatchObject({ details: { status: 412 } });
    expect(fake.sent('PATCH').length).toBe(4);
  });

  test('compression, which makes a tag weak, is declined', async () => {
    const { fake, bmc } = await startBench();
    await bmc.getPower();
    expect(new Set(fake.requests.map((one) => one.headers['accept-encoding']))).toEqual(
      new Set(['identity']),
    );
  });
});

describe('limits', () => {
  test('Retry-After leads not beyond the deadline', async () => {
    const busy = { status: 503, headers: { 'retry-after': '60' } };
    const { bmc, clock } = await startBench({}, [always('GET', systemPath, busy)]);
    await expect(bmc.setPower('on', { deadline: 10_000 })).rejects.toMatchObject({
      details: { reason: 'busy' },
    });
    expect(clock.now()).toBeLessThanOrEqual(10_000);
  });

  test('what does not answer is given up at the deadline, by whoever waits for it', async () => {
    const tls = await startSimulatedBmc({
      directory: '/nonexistent',
      tls: await loopbackCertificate(),
      faults: [{ path: '/redfish/v1/Systems', delayMs: 2000 }],
    });
    const { username, password } = tls.record.bmc;
    const bmc = openBmc({ address: tls.address, username, password, log: silentLog() });
    onTestFinished(async () => {
      await bmc.close();
      await tls.close();
    });
    const began = performance.now();
    await expect(bmc.getPower({ deadline: Date.now() + 300 })).rejects.toMatchObject({
      details: { reason: 'unreachable', cause: 'ETIMEDOUT' },
    });
    const cancelled = AbortSignal.abort(new Error('cancelled'));
    await expect(bmc.inspect({ signal: cancelled })).rejects.toThrow('cancelled');
    expect(performance.now() - began).toBeLessThan(3000);
  });
});

test('a close ends what hangs, and leaves no session of what still waits for one', async () => {
  const { fake, bmc } = await startBench();
  await bmc.getPower();
  const late: Promise<unknown>[] = [];
  fake.faults.push(({ method }) => {
    if (method === 'DELETE') late.push(bmc.getPower().catch((error) => error.details.reason));
    return undefined;
  });
  await bmc.close();
  expect(await Promise.all(late)).toEqual(['stopping']);
  expect(fake.sessions.size).toBe(0);
});

describe('R8: busy and starting BMCs', () => {
  test.each([
    ['none', {}],
    ['2', { 'retry-after': '2' }],
    ['0', { 'retry-after': '0' }],
    ['-1', { 'retry-after': '-1' }],
    ['99999999', { 'retry-after': '99999999' }],
    ['a date', { 'retry-after': 'Thu, 01 Jan 1970 00:00:03 GMT' }],
    ['text', { 'retry-after': 'soon' }],
  ])('503 once, Retry-After %s: read again, and no longer than a minute later', async (_name, headers) => {
    const { bmc, clock } = await startBench({}, [atFirst('GET', systemPath, { status: 503, headers })]);
    expect(await bmc.getPower()).toBe('off');
    expect(clock.sleeps.length).toBe(1);
    expect(clock.now()).toBeLessThanOrEqual(60_000);
  });

  test('Retry-After is obeyed', async () => {
    const { bmc, clock } = await startBench({}, [
      atFirst('GET', systemPath, { status: 503, headers: { 'retry-after': '7' } }),
    ]);
    await bmc.getPower();
    expect(clock.sleeps).toEqual([7000]);
  });

  test('a broken connection is tried again', async () => {
    const { bmc } = await startBench({}, [atFirst('GET', systemPath, 'hang up', 'hang up')]);
    expect(await bmc.getPower()).toBe('off');
  });

  test('a BMC that stays busy is told as busy after a few tries', async () => {
    const { fake, bmc } = await startBench({}, [always('GET', systemPath, { status: 503 })]);
    await expect(bmc.getPower()).rejects.toMatchObject({
      code: 'DRIVER_ERROR',
      details: { reason: 'busy', status: 503 },
    });
    expect(fake.requests.filter((one) => one.path === systemPath).length).toBe(4);
  });

  test('a BMC that is not there is told as unreachable', async () => {
    const { bmc, clock } = await startBench({}, [], { address: 'https://127.0.0.1:1' });
    await expect(bmc.getPower()).rejects.toMatchObject({
      code: 'DRIVER_ERROR',
      details: { reason: 'unreachable', cause: 'ECONNREFUSED' },
    });
    expect(clock.sleeps.length).toBe(3);
  });
});

test('no more than two reads and one write are with the BMC at a time, logins included', async () => {
  const tls = await startSimulatedBmc({
    directory: '/nonexistent',
    tls: await loopbackCertificate(),
    faults: [{ delayMs: 20 }],
  });
  const inside = { GET: 0, other: 0 };
  const most = { GET: 0, other: 0 };
  tls.app.server.on('request', ({ method }, answer) => {
    const kind = method === 'GET' ? 'GET' : 'other';
    most[kind] = Math.max(most[kind], ++inside[kind]);
    answer.once('close', () => inside[kind]--);
  });
  const { username, password } = tls.record.bmc;
  const bmc = openBmc({ address: tls.address, username, password, log: silentLog() });
  onTestFinished(async () => {
    await bmc.close();
    await tls.close();
  });
  const work = Array.from({ length: 6 }, () => bmc.getPower());
  await Promise.all([...work, bmc.setPower('on'), bmc.setBootDevice(pxeOnce)]);
  expect(most).toEqual({ GET: 2, other: 1 });
});

test('no more than two reads and one write reach a BMC that answers at once', async () => {
  const { running, fake, bmc } = await startBench();
  expect(running.address).toContain('127.0.0.1');
  await bmc.getPower();
  let inside = 0;
  let most = 0;
  fake.faults.push(() => {
    most = Math.max(most, ++inside);
    queueMicrotask(() => inside--);
    return undefined;
  });
  await Promise.all(Array.from({ length: 12 }, () => bmc.getPower()));
  expect(most).toBeLessThanOrEqual(2);
});

test('the password is in no error, even when the BMC quotes it', async () => {
  const quoting = bmcError(400, 'Base.1.0.PropertyValueError', `bad value ${user.password}`);
  const { bmc } = await startBench({}, [always('GET', systemPath, quoting)]);
  const error = await bmc.getPower().catch((thrown) => thrown);
  expect(error.message).toContain('bad value ***');
  expect(`${error.stack}${JSON.stringify(error)}${error.text}`).not.toContain(user.password);
});
