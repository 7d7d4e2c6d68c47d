/** Parts of a path that a setting fills, not the caller. */
export const presets = {
  partner: { about: 'The literal segment that this service uses for events', usual: 'partner' },
} as const;

export type PresetName = keyof typeof presets;

/** The value of each preset of this run. */
export type Presets = Readonly<Record<PresetName, string>>;

export const usualPresets: Presets = { partner: presets.partner.usual };

/** The names between braces in a path. */
type Placeholder<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholder<Rest>
  : never;

/** The placeholders of a path that stand for ids of records. */
export type IdName<Path extends string> = Exclude<Placeholder<Path>, PresetName>;

export const isPreset = (name: string): name is PresetName => Object.hasOwn(presets, name);

/** The path with something in the place of every placeholder. */
export const filledPath = (path: string, fill: (name: string) => string): string =>
  path.includes('{') ? path.replace(/\{(\w+)\}/gu, (_, name: string) => fill(name)) : path;

/** The path with its presets filled in; the placeholders of ids stay. */
export const presetPath = (path: string, values: Presets = usualPresets): string =>
  filledPath(path, (name) => (isPreset(name) ? values[name] : `{${name}}`));
