/** A Homebrew formula that installs the executable with its manual pages and completions. */
export function formula({ description, version, license, url }, files) {
  const source = (target) => {
    const found = files.find((one) => one.target === target);
    return found && `      url "${url}/${found.file}"\n      sha256 "${found.sha256}"`;
  };
  const system = (name, arm, intel) => {
    const blocks = [
      ['on_arm', source(arm)],
      ['on_intel', source(intel)],
    ].flatMap(([on, text]) => (text ? [`    ${on} do\n${text}\n    end`] : []));
    return blocks.length > 0 ? `  ${name} do\n${blocks.join('\n')}\n  end\n` : '';
  };
  return `class Svc < Formula
  desc "${description.replace(/\.$/u, '')}"
  homepage "${url}"
  version "${version}"
  license "${license}"

${[system('on_macos', 'darwin-arm64', 'darwin-x64'), system('on_linux', 'linux-arm64', 'linux-x64')].filter(Boolean).join('\n')}
  def install
    bin.install "svc"
    # The signature of Node ends with what was added to it.
    system "codesign", "--force", "--sign", "-", bin/"svc" if OS.mac?
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/svc.bash" => "svc"
    zsh_completion.install "completions/_svc"
    fish_completion.install "completions/svc.fish"
  end

  test do
    assert_equal version.to_s, shell_output("#{bin}/svc --version").strip
  end
end
`;
}

/** A Scoop manifest; without Windows among the files it has no architecture. */
export function scoopManifest({ description, version, license, url }, files) {
  const found = files.find(({ target }) => target === 'win-x64');
  const architecture = found && {
    '64bit': { url: `${url}/${found.file}`, hash: found.sha256, extract_dir: found.file.replace(/\.tar\.gz$/u, '') },
  };
  return `${JSON.stringify({ version, description, homepage: url, license, architecture, bin: 'svc.exe' }, null, 2)}\n`;
}
