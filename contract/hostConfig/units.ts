import Type, { type Static, type TProperties } from 'typebox';

const closed = { additionalProperties: false };
/** Every unit takes `when`, a label expression: the machines that it applies to. */
const When = Type.Optional(Type.String({ minLength: 1, maxLength: 512 }));
const unit = <Fields extends TProperties>(fields: Fields) => Type.Object({ when: When, ...fields }, closed);

const count = (maximum: number) => Type.Integer({ minimum: 0, maximum });
const moduleName = '^[A-Za-z0-9_-]{1,64}$';
/** `key=value` words of printable characters; no backslash, which would join the next line of a file to this one. */
const moduleOptions = '^[A-Za-z0-9_.-]+(=[!-\\[\\]-~]*)?( [A-Za-z0-9_.-]+(=[!-\\[\\]-~]*)?)*$';
/** Names between single dots or slashes, as sysctl(8) writes them; no patterns, which could mean a key that is refused. */
const sysctlName = '^[A-Za-z0-9_]+([./][A-Za-z0-9_:@-]+)+$';
/** CPU numbers and ranges; never CPU 0, on which the kernel itself must be able to run. */
const cpuList = '^[1-9]\\d{0,3}(-[1-9]\\d{0,3})?(,[1-9]\\d{0,3}(-[1-9]\\d{0,3})?)*$';

export const KernelModules = unit({
  load: Type.Optional(Type.Array(Type.String({ pattern: moduleName }), { maxItems: 128 })),
  options: Type.Optional(
    Type.Record(
      Type.String({ pattern: moduleName }),
      Type.String({ pattern: moduleOptions, maxLength: 1024 }),
      closed,
    ),
  ),
});

export const Sysctl = Type.Object(
  { when: When },
  {
    patternProperties: {
      [sysctlName]: Type.Union([
        Type.String({ pattern: '^[ -~\\t]*$', maxLength: 1024 }),
        Type.Number(),
        Type.Boolean(),
      ]),
    },
    ...closed,
  },
);

export const Hugepages = unit({
  pages2m: Type.Optional(count(1 << 24)),
  pages1g: Type.Optional(count(1 << 16)),
  transparent: Type.Optional(Type.Enum(['always', 'madvise', 'never'])),
  /** The counts are of each NUMA node, not of the whole machine. */
  perNuma: Type.Optional(Type.Boolean()),
});

export const Cpu = unit({
  governor: Type.Optional(Type.Enum(['performance', 'schedutil', 'ondemand', 'powersave'])),
  /** Effective after a reboot. */
  isolate: Type.Optional(Type.String({ pattern: cpuList, maxLength: 1024 })),
});

/** Effective after a reboot. */
export const Iommu = unit({ passthrough: Type.Optional(Type.Boolean({ default: true })) });

export const NvidiaDriver = unit({
  branch: Type.String({ pattern: '^\\d{3}$' }),
  open: Type.Optional(Type.Boolean()),
});

export const FabricManager = unit({});

export const GpuSettings = unit({
  powerLimitWatts: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
  /** Effective after a reboot. */
  ecc: Type.Optional(Type.Boolean()),
});

/** How each GPU is cut, e.g. `{ "1g.10gb": 7 }`: how many instances of which MIG profile. */
export const MigInstances = Type.Record(
  Type.String({ pattern: '^\\d{1,2}g\\.\\d{1,3}gb(\\+[a-z.]{1,16})*$' }),
  Type.Integer({ minimum: 1, maximum: 64 }),
  closed,
);

export const MigLayout = unit({
  /** `pool` takes the pool's `policy.migLayout`. */
  from: Type.Optional(Type.Enum(['pool'])),
  layout: Type.Optional(MigInstances),
});

export const GpuSharing = unit({
  mode: Type.Enum(['mps', 'timeslice']),
  replicas: Type.Optional(Type.Integer({ minimum: 1, maximum: 48 })),
});

export const ContainerToolkit = unit({ cdi: Type.Optional(Type.Boolean({ default: true })) });

const labelValue = '^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$';
const labelName = '^([a-z0-9.-]{1,253}/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$';

export const K8sJoin = unit({
  server: Type.String({ pattern: '^https://[A-Za-z0-9.\\[\\]:-]+$', maxLength: 512 }),
  caCertSha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  tokenRef: Type.String({ pattern: '^secret://[A-Za-z0-9._/-]{1,200}$' }),
  kubernetesVersion: Type.Optional(Type.String({ pattern: '^v?\\d{1,3}\\.\\d{1,3}(\\.\\d{1,3})?$' })),
  nodeLabels: Type.Optional(
    Type.Record(Type.String({ pattern: labelName }), Type.String({ pattern: labelValue }), closed),
  ),
  taints: Type.Optional(
    Type.Array(
      Type.String({
        pattern:
          '^[A-Za-z0-9][A-Za-z0-9./_-]{0,316}(=[A-Za-z0-9._-]{0,63})?:(NoSchedule|PreferNoSchedule|NoExecute)$',
      }),
      { maxItems: 64 },
    ),
  ),
  gpu: Type.Optional(Type.Boolean()),
  gpuApi: Type.Optional(Type.Enum(['device-plugin', 'dra'])),
});

/** The built-in units with the schema of their settings, in the order in which they are applied. */
export const builtinUnits = {
  'kernel-modules': KernelModules,
  sysctl: Sysctl,
  hugepages: Hugepages,
  cpu: Cpu,
  iommu: Iommu,
  'nvidia-driver': NvidiaDriver,
  'fabric-manager': FabricManager,
  'gpu-settings': GpuSettings,
  'mig-layout': MigLayout,
  'gpu-sharing': GpuSharing,
  'container-toolkit': ContainerToolkit,
  'k8s-join': K8sJoin,
} as const;

export const unitNamePattern = '^[a-z][a-z0-9-]{0,63}$';

/**
 * `hostConfig` of a profile: units by name. A name that is not built in may be a unit that was added (`configUnits`): whoever knows
 * those checks it.
 */
export const HostConfig = Type.Object(
  {
    'kernel-modules': Type.Optional(KernelModules),
    sysctl: Type.Optional(Sysctl),
    hugepages: Type.Optional(Hugepages),
    cpu: Type.Optional(Cpu),
    iommu: Type.Optional(Iommu),
    'nvidia-driver': Type.Optional(NvidiaDriver),
    'fabric-manager': Type.Optional(FabricManager),
    'gpu-settings': Type.Optional(GpuSettings),
    'mig-layout': Type.Optional(MigLayout),
    'gpu-sharing': Type.Optional(GpuSharing),
    'container-toolkit': Type.Optional(ContainerToolkit),
    'k8s-join': Type.Optional(K8sJoin),
  },
  {
    patternProperties: { [unitNamePattern]: Type.Record(Type.String(), Type.Unknown()) },
    ...closed,
  },
);
export type HostConfig = Static<typeof HostConfig>;

/** What a pool says of its hosts. Each field but `migLayout` is a unit, which replaces the profile's. */
export const poolUnitFields = {
  hugepages: Type.Optional(Hugepages),
  kernelModules: Type.Optional(KernelModules),
  cpu: Type.Optional(Cpu),
  iommu: Type.Optional(Iommu),
  gpu: Type.Optional(GpuSettings),
  kubernetes: Type.Optional(K8sJoin),
  /** For a pool whose GPUs are shared by `mps` or `timeslice`. */
  gpuSharing: Type.Optional(GpuSharing),
  /** What `mig-layout` with `from: pool` takes. */
  migLayout: Type.Optional(MigInstances),
};
const PoolUnits = Type.Object(poolUnitFields);
export type PoolUnits = Static<typeof PoolUnits>;

/** The unit that each field of a pool's policy is. */
export const unitOfPolicy = {
  hugepages: 'hugepages',
  kernelModules: 'kernel-modules',
  cpu: 'cpu',
  iommu: 'iommu',
  gpu: 'gpu-settings',
  kubernetes: 'k8s-join',
  gpuSharing: 'gpu-sharing',
} as const satisfies Partial<Record<keyof PoolUnits, keyof typeof builtinUnits>>;
