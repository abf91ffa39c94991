import { beforeEach, describe, expect, test } from 'vitest';
import { silentLog } from '#base/log.ts';
import { VirtualMachine } from '#rack/machine/machine.ts';
import { resetTypes } from '#rack/machine/power.ts';
import { FakeQemu } from '../fakes/fakeRun.ts';

let qemu: FakeQemu;
let machine: VirtualMachine;

beforeEach(() => {
  qemu = new FakeQemu();
  machine = new VirtualMachine(qemu.start, { attach: () => {} }, silentLog());
});

describe('power', () => {
  test('a machine is off until it is powered on', async () => {
    expect(machine.powerState).toBe('Off');
    await machine.power('On');
    expect(machine.powerState).toBe('On');
    expect(qemu.last.commands).toEqual(['cont']);
  });

  test('on while on and off while off change nothing', async () => {
    await machine.power('ForceOff');
    await machine.power('On');
    await machine.power('On');
    expect(qemu.runs).toHaveLength(1);
  });

  test.each(resetTypes.filter((type) => !['On', 'ForceOff', 'GracefulShutdown'].includes(type)))(
    '%s is refused while off',
    async (action) => {
      await expect(machine.power(action)).rejects.toMatchObject({ code: 'INVALID_STATE' });
      expect(qemu.runs).toHaveLength(0);
    },
  );

  test('a graceful shutdown is the guest’s to carry out', async () => {
    await machine.power('On');
    await machine.power('GracefulShutdown');
    expect(qemu.last.commands).toContain('system_powerdown');
    expect(machine.powerState).toBe('On');
    await qemu.last.end('off');
    expect(machine.powerState).toBe('Off');
    expect(qemu.runs).toHaveLength(1);
  });

  test('a graceful restart starts again after the guest has shut down', async () => {
    await machine.power('On');
    await machine.power('GracefulRestart');
    await qemu.last.end('off');
    await machine.power('Nmi');
    expect(qemu.runs).toHaveLength(2);
    expect(machine.powerState).toBe('On');
  });

  test('a restart resets QEMU and starts a new run', async () => {
    await machine.power('On');
    await machine.power('ForceRestart');
    expect(qemu.runs[0]?.commands).toEqual(['cont', 'system_reset']);
    expect(qemu.runs).toHaveLength(2);
    expect(machine.powerState).toBe('On');
  });

  test('a guest that resets itself starts again', async () => {
    await machine.power('On');
    await qemu.last.end('restart');
    await machine.power('Nmi');
    expect(qemu.runs).toHaveLength(2);
  });

  test('a run that ended before a power off does not start again after it', async () => {
    await machine.power('On');
    void qemu.last.end('restart');
    await machine.power('ForceOff');
    await machine.power('ForceOff');
    expect(machine.powerState).toBe('Off');
  });

  test('QEMU that cannot be started leaves the machine off', async () => {
    qemu.failure = new Error('no such disk');
    await expect(machine.power('On')).rejects.toThrow('no such disk');
    expect(machine.powerState).toBe('Off');
  });

  test('QEMU that cannot be started again leaves the machine off', async () => {
    await machine.power('On');
    qemu.failure = new Error('no memory');
    await machine.power('ForceRestart');
    expect(machine.powerState).toBe('Off');
  });
});

describe('boot override', () => {
  const pxeOnce = { target: 'Pxe', enabled: 'Once' } as const;

  test('holds once: for the next boot, not the one after', async () => {
    machine.bootOverride = pxeOnce;
    await machine.power('On');
    expect(machine.bootOverride.enabled).toBe('Disabled');
    await machine.power('ForceRestart');
    expect(qemu.runs.map((run) => run.override.target)).toEqual(['Pxe', 'None']);
  });

  test('is used by a reset that the guest makes itself', async () => {
    await machine.power('On');
    machine.bootOverride = pxeOnce;
    await qemu.last.end('restart');
    await machine.power('Nmi');
    expect(qemu.last.override).toEqual(pxeOnce);
    expect(machine.bootOverride.enabled).toBe('Disabled');
  });

  test('survives a power on that failed', async () => {
    machine.bootOverride = pxeOnce;
    qemu.failure = new Error('no memory');
    await machine.power('On').catch(() => {});
    expect(machine.bootOverride).toEqual(pxeOnce);
  });
});

describe('virtual medium', () => {
  test('is in the drive before the machine starts', async () => {
    await machine.changeMedium('/srv/a.iso');
    await machine.power('On');
    expect(qemu.last.commands).toEqual(['blockdev-change-medium', 'cont']);
  });

  test('changes while the machine runs', async () => {
    await machine.power('On');
    await machine.changeMedium('/srv/a.iso');
    await machine.changeMedium(undefined);
    expect(qemu.last.commands).toEqual(['cont', 'blockdev-change-medium', 'eject']);
  });
});
