package backtest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
)

const small = "../../../usage/trace/testdata/small.csv.gz"

// truncated returns the name of a trace that was not copied completely.
func truncated(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(small)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "trace.csv.gz")
	if err := os.WriteFile(file, text[:len(text)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestBacktest(t *testing.T) {
	for name, args := range map[string][]string{
		"backtest.table":  {"--trace", small},
		"backtest.wide":   {"--trace", small, "-o", "wide"},
		"backtest.json":   {"--trace", small, "-o", "json", "--policy", "default"},
		"backtest.yaml":   {"--trace", small, "-o", "yaml", "--policy", "default"},
		"changed.table":   {"--trace", small, "--policy", "default,changed", "--cpu-percentile", "0.95", "--memory-percentile", "0.99", "--margin", "0.2", "--half-life", "48h", "--memory-multiple", "1.5"},
		"follows.table":   {"--trace", small, "--policy", "follow,changed", "--limit-follows", "--headroom", "500Mi", "--memory-percentile", "0.9"},
		"margin.table":    {"--trace", small, "--policy", "default,changed", "--margin", "0"},
		"speeds.table":    {"--trace", small, "--policy", "default,mixed", "--speeds", "1,1.25", "--every", "12h", "--bad-day", "0.15"},
		"policies.table":  {"--trace", small, "--policy", "pressure,week,peak"},
		"shared.table":    {"--trace", small, "-o", "wide", "--policy", "default,shared,shared-largest,shared-correlated,shared-memory", "--node", "2,8Gi"},
		"generated.table": {"--machines", "2", "--days", "10"},
		"nodes.table":     {"--trace", small, "--policy", "authored", "--node", "1,1Gi", "--price-core", "1", "--price-gib", "0"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := program.Shell(t.Context(), append([]string{"backtest"}, args...)...)
			if code != command.ExitOK || stderr != "" {
				t.Fatalf("exit %d: %s", code, stderr)
			}
			cmdtest.Golden(t, name, stdout)
		})
	}
	t.Run("plots", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "plot.svg")
		if code, _, stderr := program.Shell(t.Context(), "backtest", "--trace", small, "--policy", "default", "--plot", file); code != command.ExitOK {
			t.Fatal(stderr)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		cmdtest.Golden(t, "plot.svg", string(text))
	})
	t.Run("prints the result even if the plot cannot be written", func(t *testing.T) {
		if code, stdout, _ := program.Shell(t.Context(), "backtest", "--trace", small, "--policy", "default", "--plot", t.TempDir()); code != command.ExitError || !strings.Contains(stdout, "default") {
			t.Errorf("exit %d: %s", code, stdout)
		}
	})
	t.Run("names machines of which something is unknown, and replays the others", func(t *testing.T) {
		known, err := os.ReadFile(small)
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		text.WriteString("\uFEFFvm lost cores 1 memory_kib 0 mhz 1\n1375112848,0,0\n300,0.5393,2290088\n")
		unzip, err := gzip.NewReader(bytes.NewReader(known))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := text.ReadFrom(unzip); err != nil {
			t.Fatal(err)
		}
		for i := range 11 {
			fmt.Fprintf(&text, "vm idle-%d cores 0 memory_kib 1 mhz 1\n1375112848,0,0\n", i)
		}
		file := filepath.Join(t.TempDir(), "trace.csv")
		if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := program.Shell(t.Context(), "backtest", "--trace", file)
		const want = "warning: the replay is without 12 machines whose cores or memory are unknown (0): lost, idle-0, idle-1, idle-2, idle-3, idle-4, idle-5, idle-6, idle-7, idle-8 and 2 more\n"
		if code != command.ExitOK || stderr != want {
			t.Errorf("exit %d: %s", code, stderr)
		}
		cmdtest.Golden(t, "backtest.table", stdout)
	})
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"an unknown policy":               {[]string{"--policy", "best"}, `unknown policy "best": expected one of authored, compat, default, follow, limit-peak, mixed, pressure, week, peak, shared, shared-largest, shared-correlated, shared-memory`},
		"a policy of changes without any": {[]string{"--policy", "changed"}, `the policy "changed" and the flags that change options, such as --margin, require each other`},
		"changes without their policy":    {[]string{"--policy", "default", "--margin", "0.5"}, `the policy "changed" and the flags that change options, such as --margin, require each other`},
		"the same policy twice":           {[]string{"--policy", "default,compat,default"}, `policy "default" is given twice`},
		"no policy":                       {[]string{"--policy", ""}, "--policy is empty"},
		"a plot without a name":           {[]string{"--plot", ""}, "--plot is empty"},
		"an empty tenant":                 {[]string{"--prometheus", "http://localhost", "--tenant", ""}, "--tenant is empty"},
		"too little time to read":         {[]string{"--prometheus", "http://localhost", "--range", "192h"}, "--range must be more than 8d, which do not count"},
		"a node of memory without a unit": {[]string{"--node", "16,64"}, `node "16,64" has less than 1Mi of memory`},
		"a price that is too high":        {[]string{"--price-gib", "1e10"}, "prices must be from 0 to 1000000000"},
		"a missing trace":                 {[]string{"--trace", "missing.csv"}, "missing.csv does not exist: check the name of the file"},
		"a file that is no trace":         {[]string{"--trace", "backtest.go"}, "read line 1 of the trace"},
		"an empty trace":                  {[]string{"--trace", "-"}, "read the trace: it has no machine"},
		"a plot that cannot be written":   {[]string{"--trace", small, "--plot", "missing/plot.svg"}, "create the plot: open missing/plot.svg"},
		"too short a trace":               {[]string{"--days", "8"}, "no machine has more than 8 days of usage: policies learn from them, so they do not count"},
		"too many machines":               {[]string{"--machines", "10001"}, "--machines must be between 1 and 10000"},
		"no machines":                     {[]string{"--machines", "0"}, "--machines must be between 1 and 10000"},
		"no days":                         {[]string{"--days", "0"}, "--days between 1 and 1000"},
		"a percentile above 1":            {[]string{"--cpu-percentile", "95"}, "a percentile must be between 0 and 1, e.g. 0.95"},
		"a percentile that is no number":  {[]string{"--memory-percentile", "NaN"}, "a percentile must be between 0 and 1, e.g. 0.95"},
		"a negative margin":               {[]string{"--margin", "-1"}, "--margin must be between 0 and 10"},
		"no half-life":                    {[]string{"--half-life", "0s"}, "--half-life must be positive"},
		"an unlimited request":            {[]string{"--memory-multiple", "0"}, "--memory-multiple must be between 1 and 100"},
		"an empty selector":               {[]string{"--prometheus", "http://localhost", "--selector", " "}, "--selector is empty: expected label matchers such as"},
		"a selector of a trace":           {[]string{"--trace", small, "--selector", `cluster="a"`}, "--selector, --until and --range require --prometheus"},
		"a selector that is none":         {[]string{"--prometheus", "http://localhost", "--selector", "cluster=a"}, "read the selector: the value of cluster is not in double quotes"},
		"a negative half-life":            {[]string{"--half-life", "-1h"}, "--half-life must be positive"},
		"no amount of headroom":           {[]string{"--headroom", "much"}, "--headroom must be an amount of memory of up to 1Pi, e.g. 250Mi"},
		"a multiple that follows":         {[]string{"--limit-follows", "--memory-multiple", "3"}, "--memory-multiple is for limits that do not follow: omit it, or --limit-follows"},
		"a limit below the request":       {[]string{"--memory-multiple", "0.5"}, "--memory-multiple must be between 1 and 100"},
		"a speed of 0":                    {[]string{"--speeds", "1,0"}, "speed 0 is not between 0.01 and 100"},
		"no speed":                        {[]string{"--speeds", ""}, "must be a number"},
		"a node without memory":           {[]string{"--node", "16"}, `node "16" is not CORES,MEMORY, e.g. 16,64Gi`},
		"a node of nothing":               {[]string{"--node", "0,64Gi"}, `node "0,64Gi" is not CORES,MEMORY`},
		"a node of bad memory":            {[]string{"--node", "1,x"}, `node "1,x" is not CORES,MEMORY`},
		"a negative price":                {[]string{"--price-core", "-1"}, "prices must be from 0 to 1000000000"},
		"no time between decisions":       {[]string{"--every", "0s"}, "--every must be positive, e.g. 12h"},
		"a bad day of more than all":      {[]string{"--bad-day", "1.5"}, "--bad-day must be between 0 and 1"},
		"a trace and a Prometheus":        {[]string{"--trace", small, "--prometheus", "http://localhost"}, "--trace and --prometheus cannot be combined"},
		"a tenant of a trace":             {[]string{"--trace", small, "--tenant", "team"}, "--tenant, --selector, --until and --range require --prometheus"},
		"a time of a trace":               {[]string{"--trace", small, "--range", "48h"}, "--tenant, --selector, --until and --range require --prometheus"},
		"an empty name of a trace":        {[]string{"--trace", ""}, "--trace is empty"},
		"an empty address":                {[]string{"--prometheus", ""}, "--prometheus is empty"},
		"days of a trace":                 {[]string{"--trace", small, "--days", "9"}, "they cannot be combined with --trace or --prometheus"},
		"a seed of a Prometheus":          {[]string{"--prometheus", "http://localhost", "--seed", "9"}, "they cannot be combined with --trace or --prometheus"},
		"more samples than fit in memory": {[]string{"--machines", "1001", "--days", "100"}, "1001 machines of 100 days do not fit in memory"},
		"the same speed twice":            {[]string{"--speeds", "1,1.25,1"}, "speed 1 is given twice"},
		"a node of too many cores":        {[]string{"--node", "1e30,64Gi"}, `node "1e30,64Gi" is larger than`},
		"a node of too much memory":       {[]string{"--node", "16,64E"}, `node "16,64E" is larger than`},
		"no time to read":                 {[]string{"--prometheus", "http://localhost", "--range", "0s"}, "--range must be more than 8d, which do not count, and at most 366d, such as 30d"},
		"an end that is no time":          {[]string{"--prometheus", "http://localhost", "--until", "today"}, `--until "today" is not a time such as 2026-03-01T00:00:00Z`},
		"an address that is no URL":       {[]string{"--prometheus", "::"}, "the address of Prometheus is not a URL"},
		"an empty token file":             {[]string{"--prometheus", "http://localhost", "--prometheus-token-file", ""}, "--prometheus-token-file is empty"},
		"an empty headers file":           {[]string{"--prometheus", "http://localhost", "--prometheus-headers-file", ""}, "--prometheus-headers-file is empty"},
		"an empty CA file":                {[]string{"--prometheus", "http://localhost", "--prometheus-ca-file", ""}, "--prometheus-ca-file is empty"},
		"a token file of a trace":         {[]string{"--trace", small, "--prometheus-token-file", "token"}, "require --prometheus"},
		"a missing token file":            {[]string{"--prometheus", "http://localhost", "--prometheus-token-file", "missing/token"}, "--prometheus: use the credentials of Prometheus: "},
		"a trace that ends early":         {[]string{"--trace", truncated(t)}, "the file ends early: copy it again\n"},
		"an argument":                     {[]string{"trace.csv"}, `unexpected argument "trace.csv"`},
	} {
		t.Run("rejects "+name, func(t *testing.T) {
			code, _, stderr := program.Shell(t.Context(), append([]string{"backtest"}, test.args...)...)
			if code != command.ExitError || !strings.Contains(stderr, test.want) {
				t.Errorf("exit %d: %s\nwant %q", code, stderr, test.want)
			}
		})
	}
}
