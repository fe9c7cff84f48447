package ratios

import (
	"testing"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
)

func TestRatiosWatch(t *testing.T) {
	for _, tc := range []struct {
		golden, seen string
		args         []string
	}{
		{"ratios-watch.table", "deleted", nil},
		{"ratios-watch.wide", "deleted", []string{"-o", "wide"}},
		{"ratios-watch.color", "deleted", []string{"--color", "always"}},
		{"ratios-watch.json", `"t5"`, []string{"-o", "json"}},
		{"ratios-watch.yaml", "t5", []string{"-o", "yaml"}},
	} {
		t.Run(tc.golden, func(t *testing.T) {
			server := cmdtest.Answering(cmdtest.Watches(cmdtest.Stream[*cmdtest.RatioEvent]{Events: cmdtest.RatioEvents()}))
			code, stdout, stderr := program.WatchUntil(t, tc.seen, append([]string{"ratios", "watch", "--server", server.Serve(t)}, tc.args...)...)
			if code != command.ExitInterrupted || stderr != "" {
				t.Errorf("exit %d, stderr %q; want 130 and nothing", code, stderr)
			}
			cmdtest.Golden(t, tc.golden, stdout)
		})
	}
}

func TestWatch(t *testing.T) {
	t.Run("watches with list --watch", watchesWithListWatch)
}

// "list --watch" is "watch".
func watchesWithListWatch(t *testing.T) {
	for _, flag := range []string{"-w", "--watch"} {
		server := cmdtest.Answering(cmdtest.Watches(cmdtest.Stream[*cmdtest.RatioEvent]{Events: cmdtest.RatioEvents()}))
		_, stdout, _ := program.WatchUntil(t, "deleted", "ratios", "list", flag, "--server", server.Serve(t))
		cmdtest.Golden(t, "ratios-watch.table", stdout)
	}
}
