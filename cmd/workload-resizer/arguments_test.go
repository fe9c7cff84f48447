package main

import "testing"

func TestUsageErrors(t *testing.T) {
	for _, tc := range []struct {
		name, want string
		args       []string
	}{
		{"an unknown flag", "unknown flag: --sample-prefix\nsee \"workload-resizer serve --help\"", []string{"serve", "--sample-prefix", "x"}},
		{"a flag that no longer exists", "--realign-rate no longer exists: set pace.resizesPerSecond in config.yaml\nsee \"workload-resizer serve --help\"", []string{"serve", "--realign-rate=50"}},
		{"a flag that another flag replaces", "--holds-name no longer exists: the name is --name-prefix, followed by -holds\nsee \"workload-resizer serve --help\"", []string{"serve", "--holds-name", "x"}},
		{"a flag before the command", "unknown flag: --standalone before the command: flags follow it, as in workload-resizer serve --dry-run\nsee \"workload-resizer --help\"", []string{"--standalone"}},
		{"an argument", "unexpected argument \"false\": the value of a flag that is true or false follows \"=\", as in --events=false\nsee \"workload-resizer serve --help\"", []string{"serve", "--leader-elect", "false"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cmd := newCommand()
			cmd.SetArgs(tc.args)
			if err := cmd.ExecuteContext(t.Context()); err == nil || err.Error() != tc.want {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}
