import { Value } from 'typebox/value';
import type { BmcBinding, DriverBinding, DriverBindings } from '#contract/nodeSpec.ts';
import type { DriverChoice, DriverChoices } from '#contract/profiles.ts';

/** What machines of one kind are driven by, unless the node says otherwise. */
export interface HardwareProfile {
  drivers: DriverChoices;
}

/** Where a node's bindings come from, lowest first. */
export interface BindingLayers {
  /** The BMC that the node was enrolled with. */
  bmc?: BmcBinding | undefined;
  hardwareProfile?: HardwareProfile | undefined;
  /** The node's own. */
  overrides?: DriverChoices | undefined;
}

/**
 * The driver of each concern of a node: its BMC binds `power`, `management` and `virtual-media`; the hardware profile overrides per
 * concern, and the node's own overrides win. A layer that names the driver that the one below has keeps its configuration and
 * changes what it names; another driver begins with its own configuration alone.
 */
export function resolveDriverBindings({ bmc, hardwareProfile, overrides }: BindingLayers): DriverBindings {
  return [hardwareProfile?.drivers ?? {}, overrides ?? {}].reduce(override, bmcBindings(bmc));
}

/** The BMC of a node, and the one in its place. */
export interface ReplacedBmc {
  before?: BmcBinding | undefined;
  now?: BmcBinding | undefined;
}

/**
 * What overrides of its own a node's bindings were made with, above those that the layers below make: bindings are kept as they were resolved.
 * One that changed nothing is not found. The layers may be others than then: what has all of the BMC of before has all of the one in its place.
 */
export function overridesIn(
  bindings: DriverBindings,
  below: DriverBindings,
  replaced: ReplacedBmc = {},
): DriverChoices {
  const others = Object.entries(bindings).filter(
    ([concern, made]) => !Value.Equal(made, own(below, concern)),
  );
  return Object.fromEntries(
    others.map(([concern, made]) => [concern, overrideIn(made, own(below, concern), replaced)]),
  );
}

function overrideIn(
  { driver, config = {} }: DriverBinding,
  below: DriverBinding | undefined,
  { before, now }: ReplacedBmc,
): DriverChoice {
  if (below?.driver === driver) return choiceOf(driver, without(config, below.config));
  const ofBmc = configOf(before, driver);
  const isMadeOfBmc = ofBmc !== undefined && Object.keys(without(ofBmc, config)).length === 0;
  if (!isMadeOfBmc) return choiceOf(driver, config);
  return choiceOf(driver, { ...configOf(now, driver), ...without(config, ofBmc) });
}

type Config = NonNullable<DriverBinding['config']>;

function choiceOf(driver: string, config: Config): DriverChoice {
  return Object.keys(config).length === 0 ? { driver } : { driver, config };
}

/** The fields that the other one has not, or not with this value. */
function without(config: Config, other: Config = {}): Config {
  return Object.fromEntries(
    Object.entries(config).filter(([field, value]) => !Value.Equal(value, own(other, field))),
  );
}

function configOf(bmc: BmcBinding | undefined, driver: string): Config | undefined {
  if (bmc?.driver !== driver) return undefined;
  const { driver: _, ...config } = bmc;
  return config;
}

/** The driver that a step which invokes one uses: the profile's choice, else the node's binding. */
export function driverFor(
  concern: string,
  bindings: DriverBindings,
  choices: DriverChoices = {},
): Required<DriverBinding> | undefined {
  const choice = own(choices, concern);
  const below = own(bindings, concern);
  const bound = choice === undefined ? below : bind(below, choice);
  return bound === undefined ? undefined : { driver: bound.driver, config: bound.config ?? {} };
}

/** What a BMC binds: the first layer of a node's bindings. */
export function bmcBindings(bmc: BmcBinding | undefined): DriverBindings {
  if (bmc === undefined) return {};
  const { driver, ...config } = bmc;
  const binding = { driver, config };
  return { power: binding, management: binding, 'virtual-media': binding };
}

function override(below: DriverBindings, choices: DriverChoices): DriverBindings {
  const chosen = Object.entries(choices).map(([concern, choice]) => [
    concern,
    bind(own(below, concern), choice),
  ]);
  return { ...below, ...Object.fromEntries(chosen) };
}

function bind(below: DriverBinding | undefined, choice: DriverChoice): DriverBinding {
  const { driver, config } = typeof choice === 'string' ? { driver: choice } : choice;
  const merged = { ...(below?.driver === driver ? below.config : {}), ...config };
  return Object.keys(merged).length === 0 ? { driver } : { driver, config: merged };
}

/** What the record itself has by this name: `constructor` is no concern that every record has. */
function own<Value>(record: Record<string, Value>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
