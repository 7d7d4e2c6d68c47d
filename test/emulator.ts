import headless from '@xterm/headless';

export type Cell = {
  /** What stands in it; '' for a blank, and for the right half of a wide character. */
  readonly text: string;
  readonly width: number;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly inverse: boolean;
  readonly underline: boolean;
  /** Of the 256; undefined: the terminal's own. */
  readonly foreground: number | undefined;
};

/** A terminal that only exists in memory: bytes in, cells out. It knows Unicode as it was in 2011. */
export function createEmulator(size: { readonly columns: number; readonly rows: number }) {
  const terminal = new headless.Terminal({
    cols: size.columns,
    rows: size.rows,
    allowProposedApi: true,
    scrollback: 0,
  });
  const buffer = () => terminal.buffer.active;
  const lineAt = (row: number) => buffer().getLine(buffer().viewportY + row);
  return {
    /** Resolves once the bytes are shown. */
    write: (bytes: string | Uint8Array) => new Promise<void>((resolve) => terminal.write(bytes, resolve)),
    resize: (columns: number, rows: number) => terminal.resize(columns, rows),
    /** Rows without the blanks at their ends. */
    lines: (): string[] =>
      Array.from({ length: terminal.rows }, (_, row) => lineAt(row)?.translateToString(true).trimEnd() ?? ''),
    cell(row: number, column: number): Cell {
      const cell = lineAt(row)?.getCell(column);
      if (!cell) throw new RangeError(`There is no cell at ${row}, ${column}.`);
      return {
        text: cell.getChars() === ' ' ? '' : cell.getChars(),
        width: cell.getWidth(),
        bold: cell.isBold() !== 0,
        dim: cell.isDim() !== 0,
        inverse: cell.isInverse() !== 0,
        underline: cell.isUnderline() !== 0,
        foreground: cell.isFgPalette() ? cell.getFgColor() : undefined,
      };
    },
    cursor: () => ({ row: buffer().cursorY, column: buffer().cursorX }),
    /** The modes that programs set, `isOther`: the screen without a history (1049). */
    modes: () => ({ ...terminal.modes, isOther: buffer().type === 'alternate' }),
    /** Hears of a clipboard that is set (OSC 52). */
    onClipboard(hear: (text: string) => void) {
      terminal.parser.registerOscHandler(52, (data) => {
        hear(Buffer.from(data.split(';')[1] ?? '', 'base64').toString());
        return true;
      });
    },
  };
}

export type Emulator = ReturnType<typeof createEmulator>;
