export function stagePackage(built: string, folder: string): string;
