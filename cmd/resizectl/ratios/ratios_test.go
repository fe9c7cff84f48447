package ratios

import (
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func TestRatiosList(t *testing.T) {
	address := cmdtest.Answering(cmdtest.Table(cmdtest.Ratios())).Serve(t)
	for _, tc := range []struct {
		golden string
		args   []string
	}{
		{"ratios.table", nil},
		{"ratios.table", []string{"-o", "table"}},
		{"ratios.wide", []string{"-o", "wide"}},
		{"ratios.json", []string{"-o", "json"}},
		{"ratios.yaml", []string{"--output=yaml"}},
		{"ratios.json", []string{"--rules", "--watch=false", "-o", "json"}},
	} {
		t.Run(tc.golden, func(t *testing.T) {
			code, stdout, stderr := program.Shell(t.Context(), append([]string{"ratios", "list", "--server", address}, tc.args...)...)
			if code != command.ExitOK || stderr != "" {
				t.Errorf("exit %d, stderr %q", code, stderr)
			}
			cmdtest.Golden(t, tc.golden, stdout)
		})
	}
}

func TestRatios(t *testing.T) {
	t.Run("warns of unhealthy sources", warnsOfUnhealthySources)
}

func warnsOfUnhealthySources(t *testing.T) {
	resp := cmdtest.Ratios()
	resp.Sources = []*workloadresizerv1.RatioSource{
		{Name: "override", Healthy: true},
		{Name: "configmap", Message: "nodeTypes.n4.cpuPerf:\n-1 is not > 0", LastGoodTime: timestamppb.New(time.Date(2026, 10, 1, 12, 30, 0, 0, time.UTC))},
		{Name: "benchmark", Message: "connection refused"},
	}
	address := cmdtest.Answering(cmdtest.Table(resp)).Serve(t)
	const want = `warning: source configmap is not healthy: nodeTypes.n4.cpuPerf: -1 is not > 0 (its state of 2026-10-01T12:30:00Z stays in effect)
warning: source benchmark is not healthy: connection refused (no good state yet)
`
	for _, output := range print.Formats {
		code, stdout, stderr := program.Shell(t.Context(), "ratios", "list", "--server", address, "-o", output)
		if code != command.ExitOK || stdout == "" || stderr != want {
			t.Errorf("-o %s: exit %d, stderr\n%s\nwant\n%s", output, code, stderr, want)
		}
	}
}

func TestRangeText(t *testing.T) {
	for _, tc := range []struct{ least, most, want string }{
		{"50m", "16", "50m to 16"},
		{"50m", "", "at least 50m"},
		{"", "16", "at most 16"},
		{"", "", "unbounded"},
	} {
		if got := print.Range(&workloadresizerv1.QuantityRange{Min: tc.least, Max: tc.most}); got != tc.want {
			t.Errorf("%q to %q: %q, want %q", tc.least, tc.most, got, tc.want)
		}
	}
	if got := print.Range(nil); got != "unbounded" {
		t.Errorf("no range: %q", got)
	}
}
