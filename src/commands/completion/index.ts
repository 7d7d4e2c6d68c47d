import { defineCommand } from '../../command/command.ts';
import { completionScripts, shells } from '../../command/completion-scripts.ts';
import { param } from '../../command/param.ts';

export const completion = defineCommand({
  name: 'completion',
  summary: 'Completions for bash, zsh, fish or PowerShell',
  details: `To install them:

  bash        echo 'source <(svc completion bash)' >> ~/.bashrc
  zsh         echo 'source <(svc completion zsh)' >> ~/.zshrc
  fish        mkdir -p ~/.config/fish/completions && svc completion fish > ~/.config/fish/completions/svc.fish
  PowerShell  Add-Content $PROFILE 'iex (svc completion powershell | Out-String)'

In zsh the line goes below compinit, where ~/.zshrc has one.`,
  args: { shell: { ...param.choice('The shell', shells), placeholder: 'SHELL', required: true } },
  examples: ['svc completion bash'],
  async run(_, { args }) {
    return { data: { shape: 'text', text: completionScripts[args.shell ?? 'bash'] } };
  },
});
