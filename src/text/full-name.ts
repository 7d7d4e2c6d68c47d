type Named = { readonly name?: unknown; readonly last_name?: unknown };

/** As a letter has it; empty where there is neither name. */
export const fullName = ({ name, last_name }: Named): string => [name, last_name].filter(Boolean).join(' ');
