import { describe, expect, test } from 'vitest';
import { bmcError, type Fault } from '../fakes/fakeBmc.ts';
import { always, atFirst, plainSystem, recorded, startBench } from './bmcBench.ts';

const on = { ...plainSystem, PowerState: 'On' };
const resetPath = 'ComputerSystem.Reset';

/** A system whose reset action says this of itself. */
const withReset = (action: Record<string, unknown>, PowerState = 'On') =>
  ({
    ...plainSystem,
    PowerState,
    Actions: {
      '#ComputerSystem.Reset': { target: '/redfish/v1/Systems/1/Actions/ComputerSystem.Reset', ...action },
    },
  }) as typeof plainSystem;

const allows = (...types: string[]) => withReset({ 'ResetType@Redfish.AllowableValues': types });

/**
 * Reports these power states one after the other, then the last for ever; resets are accepted and change
 * nothing.
 */
function powerSequence(...states: (string | null)[]): Fault {
  const left = [...states];
  return (request, bmc) => {
    if (request.method === 'POST' && request.path.endsWith(resetPath)) return { status: 204 };
    if (request.method === 'GET' && request.path === bmc.systemPath && left.length > 0)
      bmc.system.PowerState = left.shift() ?? null;
    return undefined;
  };
}

/** Once a reset was accepted, reports these states one after the other. */
function afterReset(...states: string[]): Fault {
  const left = [...states];
  let accepted = false;
  return (request, bmc) => {
    if (request.method === 'POST' && request.path.endsWith(resetPath)) {
      accepted = true;
      return { status: 204 };
    }
    if (accepted && left.length > 0) bmc.system.PowerState = left.shift() ?? null;
    return undefined;
  };
}

test('a machine is switched on, and the call ends when the BMC says so', async () => {
  const { fake, bmc } = await startBench();
  expect(await bmc.getPower()).toBe('off');
  expect(await bmc.setPower('on')).toBe('on');
  expect(fake.resets()).toEqual(['On']);
  expect(await bmc.getPower()).toBe('on');
});

test.each([
  ['on', on],
  ['off', plainSystem],
  ['graceful-off', plainSystem],
] as const)('%s of a machine that is there sends nothing', async (action, system) => {
  const { fake, bmc } = await startBench({ system });
  await bmc.setPower(action);
  expect(fake.resets()).toEqual([]);
});

test.each([
  ['off', 'ForceOff', 'off'],
  ['graceful-off', 'GracefulShutdown', 'off'],
  ['reset', 'ForceRestart', 'on'],
  ['graceful-restart', 'GracefulRestart', 'on'],
  ['cycle', 'ForceRestart', 'on'],
  ['nmi', 'Nmi', 'on'],
] as const)('%s of a running machine sends %s', async (action, type, end) => {
  const { fake, bmc } = await startBench({ system: on });
  expect(await bmc.setPower(action)).toBe(end);
  expect(fake.resets()).toEqual([type]);
});

test('cycle of a machine that is off switches it on', async () => {
  const { fake, bmc } = await startBench();
  expect(await bmc.setPower('cycle')).toBe('on');
  expect(fake.resets()).toEqual(['On']);
});

test.each(['reset', 'graceful-restart', 'nmi'] as const)(
  '%s of a machine that is off is refused',
  async (action) => {
    const { fake, bmc } = await startBench();
    await expect(bmc.setPower(action)).rejects.toMatchObject({
      code: 'INVALID_STATE',
      details: { reason: 'powered-off' },
    });
    expect(fake.resets()).toEqual([]);
  },
);

describe('R2: where the values of ResetType are found', () => {
  test('in the ActionInfo (Supermicro, BlueField)', async () => {
    const { fake, bmc } = await startBench({ system: recorded('supermicro/system') });
    fake.tree['/redfish/v1/Systems/1/ResetActionInfo'] = recorded('supermicro/resetActionInfo');
    await bmc.setPower('graceful-restart');
    expect(fake.resets()).toEqual(['GracefulRestart']);
  });

  test('an ActionInfo that is not there means unknown: it is tried', async () => {
    const { fake, bmc } = await startBench({
      system: withReset({ '@Redfish.ActionInfo': '/redfish/v1/none' }),
    });
    await bmc.setPower('cycle');
    expect(fake.resets()).toEqual(['ForceRestart']);
  });

  test('nowhere (iLO 4): tried in order until one is taken', async () => {
    const refuse: Fault = (request) =>
      request.body.ResetType === 'ForceRestart'
        ? bmcError(400, 'Base.0.10.ActionParameterNotSupported')
        : undefined;
    const { fake, bmc } = await startBench({ system: withReset({}) }, [refuse]);
    expect(await bmc.setPower('cycle')).toBe('on');
    expect(fake.resets()).toEqual(['ForceRestart', 'PowerCycle']);
  });

  test('cycle uses PowerCycle where ForceRestart is not offered', async () => {
    const { fake, bmc } = await startBench({ system: recorded('ami/system') });
    await bmc.setPower('cycle');
    expect(fake.resets()).toEqual(['PowerCycle']);
  });

  test('cycle switches off and on where neither is offered, or both are refused (sushy-tools answers 501)', async () => {
    const { fake, bmc } = await startBench({ system: allows('On', 'ForceOff') });
    expect(await bmc.setPower('cycle')).toBe('on');
    expect(fake.resets()).toEqual(['ForceOff', 'On']);

    const refuse: Fault = (request) =>
      ['ForceRestart', 'PowerCycle'].includes(String(request.body.ResetType)) ? { status: 501 } : undefined;
    const other = await startBench({ system: withReset({}) }, [refuse]);
    expect(await other.bmc.setPower('cycle')).toBe('on');
    expect(other.fake.resets()).toEqual(['ForceRestart', 'PowerCycle', 'ForceOff', 'On']);
  });

  test('what the BMC does not offer is UNSUPPORTED and names what it offers', async () => {
    const { bmc } = await startBench({ system: allows('On', 'ForceOff') });
    await expect(bmc.setPower('nmi')).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      details: { allowed: ['On', 'ForceOff'] },
    });
  });
});

describe('R12: refused for a while, already there, in transit', () => {
  test('On that conflicts shortly after off (iDRAC10) is tried again', async () => {
    const conflict = bmcError(409, 'Base.1.18.ActionParameterValueConflict');
    const { fake, bmc } = await startBench({}, [atFirst('POST', resetPath, conflict, conflict)]);
    expect(await bmc.setPower('on')).toBe('on');
    expect(fake.resets()).toEqual(['On', 'On', 'On']);
  });

  test('a refusal because it is there already (PSU501) is success', async () => {
    const alreadyOn: Fault = (request, fake) => {
      if (request.method !== 'POST' || !request.path.endsWith(resetPath)) return undefined;
      fake.system.PowerState = 'On';
      return bmcError(409, 'IDRAC.1.6.PSU501');
    };
    const { fake, bmc } = await startBench({}, [alreadyOn]);
    expect(await bmc.setPower('on')).toBe('on');
    expect(fake.resets()).toEqual(['On']);
  });

  test('PoweringOn is not yet on', async () => {
    const { clock, bmc } = await startBench({}, [afterReset('PoweringOn', 'PoweringOn', 'PoweringOn', 'On')]);
    expect(await bmc.setPower('on')).toBe('on');
    expect(clock.sleeps.length).toBe(3);
  });

  test('a machine that is just being switched on is not sent a second On', async () => {
    const { fake, bmc } = await startBench({}, [
      powerSequence('PoweringOn', 'PoweringOn', 'PoweringOn', 'On'),
    ]);
    expect(await bmc.setPower('on')).toBe('on');
    expect(fake.resets()).toEqual([]);
  });

  test('a state that never changes ends at the deadline and names the last state', async () => {
    const { clock, bmc } = await startBench({}, [powerSequence('Off')]);
    await expect(bmc.setPower('on', { deadline: 20_000 })).rejects.toMatchObject({
      code: 'DRIVER_ERROR',
      details: { reason: 'power-timeout', lastState: 'Off', wanted: ['on'] },
    });
    expect(clock.now()).toBeLessThanOrEqual(20_000);
  });

  test('Paused is on; null for a while is waited out; null for ever is an error', async () => {
    const paused = await startBench({ system: { ...plainSystem, PowerState: 'Paused' } });
    expect(await paused.bmc.getPower()).toBe('on');
    const late = await startBench({}, [powerSequence(null, null, null, 'Off')]);
    expect(await late.bmc.getPower()).toBe('off');
    const never = await startBench({ system: { ...plainSystem, PowerState: null } });
    await expect(never.bmc.getPower()).rejects.toMatchObject({
      details: { reason: 'power-timeout', lastState: null },
    });
  });

  test('what the BMC refuses for good is told with its message', async () => {
    const refusal = bmcError(400, 'Base.1.8.ActionNotAllowed', 'not today');
    const { bmc } = await startBench({}, [always('POST', resetPath, refusal)]);
    await expect(bmc.setPower('on')).rejects.toMatchObject({
      code: 'DRIVER_ERROR',
      message: expect.stringContaining('not today'),
      details: { status: 400, messageIds: ['Base.1.8.ActionNotAllowed'] },
    });
  });
});

describe('R8: a reset that was answered 503', () => {
  const acted: Fault = (request, fake) => {
    if (request.method !== 'POST' || !request.path.endsWith(resetPath)) return undefined;
    fake.system.PowerState = 'Off';
    return { status: 503 };
  };

  test('is not sent twice when the state shows that it was carried out', async () => {
    const { fake, bmc } = await startBench({ system: on }, [acted]);
    expect(await bmc.setPower('off')).toBe('off');
    expect(fake.resets()).toEqual(['ForceOff']);
  });

  test('is sent again when it was not', async () => {
    const { fake, bmc } = await startBench({ system: on }, [atFirst('POST', resetPath, { status: 503 })]);
    expect(await bmc.setPower('off')).toBe('off');
    expect(fake.resets()).toEqual(['ForceOff', 'ForceOff']);
  });

  test('a connection that breaks after the BMC acted is found out by the state', async () => {
    const { fake, bmc } = await startBench({ system: on }, [
      (request, bmcOfTest) => {
        if (acted(request, bmcOfTest) === undefined) return undefined;
        return 'hang up';
      },
    ]);
    expect(await bmc.setPower('off')).toBe('off');
    expect(fake.resets()).toEqual(['ForceOff']);
  });
});

describe('R4: 202 and its task', () => {
  const monitor = '/redfish/v1/TaskService/TaskMonitors/7';
  const accepted = { status: 202, headers: { location: monitor, 'retry-after': '2' } };

  test('a task that fails is a failure with its message', async () => {
    const failed = {
      status: 200,
      body: {
        TaskState: 'Exception',
        TaskStatus: 'Critical',
        Messages: [{ MessageId: 'Base.1.8.GeneralError' }],
      },
    };
    const { bmc, clock } = await startBench({}, [
      atFirst('POST', resetPath, accepted),
      atFirst('GET', monitor, accepted, accepted, failed),
    ]);
    await expect(bmc.setPower('on')).rejects.toMatchObject({
      code: 'DRIVER_ERROR',
      details: { reason: 'task-failed', messageIds: ['Base.1.8.GeneralError'] },
    });
    expect(clock.sleeps).toEqual([2000, 2000, 2000]);
  });

  test.each([
    ['200 with a completed task', { status: 200, body: { TaskState: 'Completed', TaskStatus: 'OK' } }],
    ['204', { status: 204 }],
    ['404, once it is finished', { status: 404 }],
  ])('a monitor that ends with %s is followed by a look at the effect', async (_name, end) => {
    const { bmc } = await startBench({}, [
      atFirst('GET', monitor, { status: 202 }, end),
      (request, fake) => {
        if (request.method !== 'POST' || !request.path.endsWith(resetPath)) return undefined;
        fake.system.PowerState = 'On';
        return accepted;
      },
    ]);
    expect(await bmc.setPower('on')).toBe('on');
  });

  test('a task that is named only in the body is followed', async () => {
    const inBody = {
      status: 202,
      body: { '@odata.id': '/redfish/v1/TaskService/Tasks/7', TaskState: 'Running' },
    };
    const failed = { status: 200, body: { TaskState: 'Killed' } };
    const { bmc } = await startBench({}, [
      atFirst('POST', resetPath, inBody),
      atFirst('GET', '/Tasks/7', { status: 200, body: { TaskState: 'Running' } }, failed),
    ]);
    await expect(bmc.setPower('on')).rejects.toMatchObject({
      details: { reason: 'task-failed', lastState: 'Killed' },
    });
  });

  test('202 that names no task is judged by the effect', async () => {
    const { bmc } = await startBench({}, [
      powerSequence('Off', 'Off', 'Off', 'Off', 'On'),
      atFirst('POST', resetPath, { status: 202 }),
    ]);
    expect(await bmc.setPower('on')).toBe('on');
  });

  test.each([
    ['a state of jobs', [{ status: 200, body: { TaskState: 'Scheduled' } }]],
    ['303 to the task', [{ status: 303, headers: { location: '/redfish/v1/TaskService/Tasks/7' } }]],
  ])('a task that fails after %s is a failure', async (_name, before) => {
    const failed = {
      status: 200,
      body: { TaskState: 'Exception', Messages: [{ MessageId: 'Base.1.8.Late' }] },
    };
    const { bmc } = await startBench({}, [
      atFirst('POST', resetPath, accepted),
      atFirst('GET', monitor, ...before, failed),
      always('GET', '/TaskService/Tasks/7', failed),
    ]);
    await expect(bmc.setPower('on')).rejects.toMatchObject({
      details: { reason: 'task-failed', messageIds: ['Base.1.8.Late'] },
    });
  });

  test('a task that never ends is given up at the deadline', async () => {
    const { bmc } = await startBench({}, [
      always('POST', resetPath, accepted),
      always('GET', monitor, { status: 202 }),
    ]);
    await expect(bmc.setPower('on', { deadline: 30_000 })).rejects.toMatchObject({
      details: { reason: 'task-timeout' },
    });
  });
});

test('R24: what needs a license is told as that', async () => {
  const refusal = bmcError(403, 'SMC.1.0.OemLicenseNotPassed', 'Not licensed to perform this request.');
  const { bmc } = await startBench({}, [always('POST', resetPath, refusal)]);
  await expect(bmc.setPower('on')).rejects.toMatchObject({ details: { reason: 'license', status: 403 } });
});

test('R16: firmware in POST is waited for', async () => {
  const inPost = bmcError(400, 'iLO.2.14.UnableToModifyDuringSystemPOST');
  const { fake, bmc } = await startBench({}, [atFirst('POST', resetPath, inPost)]);
  expect(await bmc.setPower('on')).toBe('on');
  expect(fake.resets()).toEqual(['On', 'On']);
});

test('a system on a later page, of a root that shows its systems after a login only, is found', async () => {
  const { fake, bmc } = await startBench({}, [
    ({ path, headers }) =>
      path === '/redfish/v1/' && headers['x-auth-token'] === undefined
        ? {
            status: 200,
            body: { Links: { Sessions: { '@odata.id': '/redfish/v1/SessionService/Sessions' } } },
          }
        : undefined,
  ]);
  fake.tree['/redfish/v1/Systems'] = { Members: [], 'Members@odata.nextLink': '/redfish/v1/Systems/more' };
  fake.tree['/redfish/v1/Systems/more'] = {
    Members: [{ '@odata.id': '/redfish/v1/Systems/none' }, { '@odata.id': '/redfish/v1/Systems/1' }],
  };
  expect(await bmc.getPower()).toBe('off');
});

test('of several systems the one physical is taken; two physical ones are an error', async () => {
  const { fake, bmc } = await startBench();
  fake.tree['/redfish/v1/Systems'] = {
    Members: [{ '@odata.id': '/redfish/v1/Systems/vm' }, { '@odata.id': '/redfish/v1/Systems/1' }],
  };
  fake.tree['/redfish/v1/Systems/vm'] = { SystemType: 'Virtual', PowerState: 'On' };
  expect(await bmc.getPower()).toBe('off');
  const two = await startBench();
  two.fake.tree['/redfish/v1/Systems'] = fake.tree['/redfish/v1/Systems'];
  two.fake.tree['/redfish/v1/Systems/vm'] = { SystemType: 'Physical', PowerState: 'On' };
  await expect(two.bmc.getPower()).rejects.toMatchObject({ details: { reason: 'no-system' } });
});

describe('what an OS is asked to do, and may not', () => {
  const ignoresOs: Fault = (request) =>
    request.method === 'POST' && String(request.body.ResetType).startsWith('Graceful')
      ? { status: 204 }
      : undefined;

  test('graceful-off waits until the deadline where it may not be forced', async () => {
    const { fake, bmc } = await startBench({ system: on }, [ignoresOs]);
    await expect(bmc.setPower('graceful-off', { deadline: 60_000 })).rejects.toMatchObject({
      details: { reason: 'power-timeout', lastState: 'On' },
    });
    expect(fake.resets()).toEqual(['GracefulShutdown']);
  });

  test('graceful-off is forced after the time that was asked for', async () => {
    const { fake, bmc, clock } = await startBench({ system: on }, [ignoresOs]);
    expect(await bmc.setPower('graceful-off', { deadline: 120_000, forceAfterMs: 30_000 })).toBe('off');
    expect(fake.resets()).toEqual(['GracefulShutdown', 'ForceOff']);
    expect(clock.now()).toBeGreaterThan(28_000);
    expect(clock.now()).toBeLessThan(35_000);
  });

  test('an OS that was given longer than the operation takes is not forced before its time', async () => {
    const { fake, bmc } = await startBench({ system: on }, [ignoresOs]);
    const options = { deadline: 60_000, forceAfterMs: 600_000 };
    await expect(bmc.setPower('graceful-off', options)).rejects.toMatchObject({
      details: { reason: 'power-timeout', lastState: 'On' },
    });
    expect(fake.resets()).toEqual(['GracefulShutdown']);
  });

  test('an operation that is cancelled while its OS is given time forces nothing', async () => {
    const cancel = new AbortController();
    let looks = 0;
    const { fake, bmc } = await startBench({ system: on }, [
      ignoresOs,
      ({ method }) => {
        if (method === 'GET' && ++looks === 6) cancel.abort(new Error('cancelled'));
        return undefined;
      },
    ]);
    const options = { deadline: 120_000, forceAfterMs: 30_000, signal: cancel.signal };
    await expect(bmc.setPower('graceful-off', options)).rejects.toThrow('cancelled');
    expect(fake.resets()).toEqual(['GracefulShutdown']);
    expect(await bmc.getPower()).toBe('on');
  });

  test('graceful-restart that may be forced ends the OS, by force at last, and starts the machine', async () => {
    const { fake, bmc } = await startBench({ system: on }, [ignoresOs]);
    expect(await bmc.setPower('graceful-restart', { forceAfterMs: 5000 })).toBe('on');
    expect(fake.resets()).toEqual(['GracefulShutdown', 'ForceOff', 'On']);
  });

  test('graceful-restart is a shutdown and a start where the BMC has no such reset', async () => {
    const { fake, bmc } = await startBench({ system: allows('On', 'ForceOff', 'GracefulShutdown') });
    expect(await bmc.setPower('graceful-restart')).toBe('on');
    expect(fake.resets()).toEqual(['GracefulShutdown', 'On']);
  });
});

describe('R8: a restart whose answer does not say whether it was done', () => {
  const doubtful = (answer: ReturnType<Fault>): Fault => atFirst('POST', resetPath, answer);

  test.each([
    ['503', { status: 503 }],
    ['a broken connection', 'hang up'],
  ] as const)('%s: the machine is switched off and on, each seen by its state', async (_name, answer) => {
    const { fake, bmc } = await startBench({ system: on }, [doubtful(answer)]);
    expect(await bmc.setPower('cycle')).toBe('on');
    expect(fake.resets()).toEqual(['ForceRestart', 'ForceOff', 'On']);
  });

  test('graceful-restart: the OS is asked to end, and started again', async () => {
    const { fake, bmc } = await startBench({ system: on }, [doubtful('hang up')]);
    expect(await bmc.setPower('graceful-restart')).toBe('on');
    expect(fake.resets()).toEqual(['GracefulRestart', 'GracefulShutdown', 'On']);
  });

  test('an NMI is not sent twice', async () => {
    const { fake, bmc } = await startBench({ system: on }, [doubtful('hang up')]);
    await expect(bmc.setPower('nmi')).rejects.toMatchObject({
      code: 'DRIVER_ERROR',
      details: { reason: 'unknown-outcome' },
    });
    expect(fake.resets()).toEqual(['Nmi']);
  });

  test('on and off are asked for again when the state shows that they were not done', async () => {
    const { fake, bmc } = await startBench({}, [doubtful('hang up')]);
    expect(await bmc.setPower('on')).toBe('on');
    expect(fake.resets()).toEqual(['On', 'On']);
  });

  test('a power button is not pushed twice', async () => {
    const { fake, bmc } = await startBench({ system: allows('On', 'PushPowerButton') }, [
      afterReset('On', 'On', 'Off'),
      doubtful('hang up'),
    ]);
    fake.faults.reverse();
    await expect(bmc.setPower('graceful-off', { deadline: 30_000 })).rejects.toMatchObject({
      details: { reason: 'power-timeout' },
    });
    expect(fake.resets()).toEqual(['PushPowerButton']);
  });
});
