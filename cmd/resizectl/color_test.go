package main

import (
	"regexp"
	"testing"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
)

// Output in colors has the same text as output without colors.
func TestColors(t *testing.T) {
	address := cmdtest.Answering(known(), cmdtest.Table(cmdtest.Overridden(), cmdtest.Rules()...), written()).Serve(t)
	for name, tc := range map[string]struct {
		args []string
		code int
	}{
		"ratios-overridden": {[]string{"ratios", "list", "--rules"}, command.ExitOK},
		"ratios-set":        {[]string{"ratios", "set", "n4=1.2", "--dry-run"}, command.ExitDifferences},
		"restore":           {[]string{"restore", "-A", "--dry-run"}, command.ExitDifferences},
	} {
		t.Run(name, func(t *testing.T) {
			args := append(tc.args, "--server", address)
			code, colored, _ := program.Shell(t.Context(), append(args, "--color", "always")...)
			if code != tc.code {
				t.Errorf("exit %d, want %d", code, tc.code)
			}
			cmdtest.Golden(t, name+".color", colored)
			if _, plain, _ := program.Shell(t.Context(), args...); sgr.ReplaceAllString(colored, "") != plain {
				t.Errorf("without colors, the text differs:\n%s", plain)
			}
		})
	}
}

// sgr matches a sequence that changes the color.
var sgr = regexp.MustCompile("\x1b\\[[0-9]*m")
