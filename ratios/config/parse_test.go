package config

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

const published = `
baselineNodeType: n2d
nodeTypes:
  n2d: { cpuPerf: 1.0, memPerf: 1.0 }
  n4:  { cpuPerf: 1.25, memPerf: 1.0 }
  c3:  { cpuPerf: 1.30, memPerf: 1.0 }
bounds:
  cpu: { min: "50m", max: "16" }
  memory: { min: "64Mi", max: "32Gi" }
`

func TestParse(t *testing.T) {
	t.Run("reads the published format", readsThePublishedFormat)
	t.Run("reads numbers and quantities in every common notation", readsNumbersAndQuantitiesInEveryCommonNotation)
	t.Run("accepts bounds up to the size of machines and open bounds", acceptsBoundsUpToTheSizeOfMachinesAndOpenBounds)
	t.Run("ignores empty documents after the document", ignoresEmptyDocumentsAfterTheDocument)
	t.Run("names every fault with its path", namesEveryFaultWithItsPath)
	t.Run("reads the maximum speed ratio of the globals and of rules", readsTheMaximumSpeedRatioOfTheGlobalsAndOfRules)
	t.Run("rejects a maximum speed ratio below 1", rejectsAMaximumSpeedRatioBelow1)
	t.Run("rejects a performance that is not a finite number above 0", rejectsAPerformanceThatIsNotAFiniteNumberAbove0)
}

func readsThePublishedFormat(t *testing.T) {
	from := ratios.Provenance{Source: "configmap", UpdateTime: time.Unix(1, 0), Author: "kubectl"}
	got, err := Parse([]byte(published), from)
	if err != nil {
		t.Fatal(err)
	}
	want := &ratios.Layer{
		Baseline: "n2d",
		Ratios: map[string]ratios.Ratio{
			"n2d": {CPUPerf: 1, MemoryPerf: 1, Provenance: from},
			"n4":  {CPUPerf: 1.25, MemoryPerf: 1, Provenance: from},
			"c3":  {CPUPerf: 1.3, MemoryPerf: 1, Provenance: from},
		},
		Settings: keys.Some(policy.Settings{Bounds: policy.Bounds{CPU: sizing.Range{Min: 50, Max: 16000}, Memory: sizing.Range{Min: 64 << 20, Max: 32 << 30}}}),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func readsNumbersAndQuantitiesInEveryCommonNotation(t *testing.T) {
	got, err := Parse([]byte(`{baselineNodeType: "2", nodeTypes: {"2": &r {cpuPerf: 20482, memPerf: 1e0}, m7i.large: *r, e2@Intel-6-79: *r}, bounds: {cpu: {max: 16}, memory: }}`), ratios.Provenance{})
	if err != nil {
		t.Fatal(err)
	}
	r := ratios.Ratio{CPUPerf: 20482, MemoryPerf: 1}
	want := &ratios.Layer{Baseline: "2", Ratios: map[string]ratios.Ratio{"2": r, "m7i.large": r, "e2@Intel-6-79": r}, Settings: keys.Some(policy.Settings{Bounds: policy.Bounds{CPU: sizing.Range{Max: 16000}}})}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func acceptsBoundsUpToTheSizeOfMachinesAndOpenBounds(t *testing.T) {
	got, err := Parse([]byte(`{baselineNodeType: a, nodeTypes: {a: {cpuPerf: 1, memPerf: 1}}, bounds: {cpu: {min: 0, max: 10k}, memory: {min: "0", max: 1Pi}}}`), ratios.Provenance{})
	if err != nil {
		t.Fatal(err)
	}
	if want := (policy.Bounds{CPU: sizing.Range{Max: 10_000_000}, Memory: sizing.Range{Max: 1 << 50}}); got.Settings.Values.Bounds != want || !got.Settings.Sets("bounds.cpu.min") {
		t.Errorf("bounds %+v, want %+v", got.Settings.Values.Bounds, want)
	}
}

func ignoresEmptyDocumentsAfterTheDocument(t *testing.T) {
	for _, end := range []string{"---", "---\n", "...\n---\n# end\n---\n", "..."} {
		if _, err := Parse([]byte("---\n"+published+end), ratios.Provenance{}); err != nil {
			t.Errorf("%q at the end: %v", end, err)
		}
	}
}

func namesEveryFaultWithItsPath(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"not YAML", "a: [", []string{"read YAML: "}},
		{"an empty document", "# empty\n", []string{"the configuration is empty"}},
		{"not a mapping", "- a", []string{"line 1: must be a mapping, not a list", "baselineNodeType: must be set"}},
		{"no baseline", "nodeTypes: {n4: {cpuPerf: 1, memPerf: 1}}", []string{"baselineNodeType: must be set"}},
		{"baseline without a ratio", "baselineNodeType: n2d\nnodeTypes: {n4: {cpuPerf: 1, memPerf: 1}}", []string{`baselineNodeType: line 1: "n2d" is not one of the nodeTypes`}},
		{"a baseline that is not a string", "baselineNodeType: [n4]", []string{"baselineNodeType: line 1: must be a non-empty string, not a list", "baselineNodeType: line 1: must be set"}},
		{"unknown keys", published + "bound: {}\n", []string{"bound: line 10: unknown key"}},
		{"a manifest", "apiVersion: v1\nkind: ConfigMap\ndata: {config.yaml: a}\n", []string{"this is a manifest, not a configuration: of a ConfigMap, use the content of its key config.yaml, which this command prints: kubectl create --dry-run=client -o jsonpath='{.data.config\\.yaml}' -f FILE"}},
		{"one key of a manifest", "apiVersion: v1\n" + published, []string{"apiVersion: line 1: unknown key"}},
		{"nested unknown keys", strings.Replace(published, "min: \"50m\"", "minimum: \"50m\"", 1), []string{"bounds.cpu.minimum: line 8: unknown key"}},
		{"a key that is set twice", published + "baselineNodeType: n4\n", []string{"baselineNodeType: line 10: set twice"}},
		{"a node type without a name", strings.Replace(published, "n4:", `"":`, 1), []string{`nodeTypes[""]: line 5: the name of a node type must not be empty`}},
		{"a node type with a dot is quoted", "baselineNodeType: a\nnodeTypes: {a: {cpuPerf: 1, memPerf: 1}, m7i.large: {cpuPerf: 0, memPerf: 1}}",
			[]string{`nodeTypes["m7i.large"].cpuPerf: line 2: must be a finite number above 0, not "0"`}},
		{"missing performance", strings.Replace(published, ", memPerf: 1.0", "", 2), []string{"nodeTypes.n2d.memPerf: must be set", "nodeTypes.n4.memPerf: must be set"}},
		{"min above max", strings.Replace(published, `"16"`, `"40m"`, 1), []string{"bounds.cpu: line 8: min 50m > max 40m"}},
		{"not a quantity", strings.Replace(published, "64Mi", "64 MB", 1), []string{`bounds.memory.min: line 9: must be a quantity such as "50m" or "64Mi", not "64 MB"`}},
		{"an implausible quantity", strings.Replace(published, "64Mi", "1e99999999", 1), []string{`bounds.memory.min: line 9: must be a quantity such as "50m" or "64Mi", not "1e99999999"`}},
		{"negative quantity", strings.Replace(published, "64Mi", "-1", 1), []string{`bounds.memory.min: line 9: "-1" is too small`}},
		{"an upper bound of 0", strings.Replace(published, `"16"`, `"0m"`, 1), []string{`bounds.cpu.max: line 8: "0m" is too small; omit it for no bound`}},
		{"a cpu bound above any machine", strings.Replace(published, `"16"`, `"10E"`, 1), []string{`bounds.cpu.max: line 8: "10E" is more than 10k, which no machine has; specify cores, such as "50m" or "16", or omit it for no bound`}},
		{"a memory bound above any machine", strings.Replace(published, `"32Gi"`, `"1e30"`, 1), []string{`bounds.memory.max: line 9: "1e30" is more than 1Pi, which no machine has`}},
		{"memory in millibytes", strings.Replace(published, "64Mi", "500m", 1), []string{`bounds.memory.min: line 9: "500m" has a fraction of a byte; specify bytes, such as "64Mi" or "32Gi"`}},
		{"memory in almost whole bytes", strings.Replace(published, "64Mi", "1048576999999999n", 1), []string{`bounds.memory.min: line 9: "1048576999999999n" has a fraction of a byte`}},
		{"memory without a suffix", strings.Replace(published, "64Mi", "64", 1), []string{`bounds.memory.min: line 9: "64" is less than 1Mi; specify bytes`}},
		{"more memory than machines have", strings.Replace(published, "32Gi", "1025Ti", 1), []string{`bounds.memory.max: line 9: "1025Ti" is more than 1Pi`}},
		{"cores with the suffix of memory", strings.Replace(published, "50m", "1Mi", 1), []string{`bounds.cpu.min: line 8: "1Mi" is more than 10k, which no machine has; specify cores`}},
		{"more cores than machines have", strings.Replace(published, `"16"`, "10001", 1), []string{`bounds.cpu.max: line 8: "10001" is more than 10k`}},
		{"less than a millicore", strings.Replace(published, "50m", "1u", 1), []string{`bounds.cpu.min: line 8: "1u" is less than 1m`}},
		{"a node type that is not a label value", strings.Replace(published, "n4:", "n 4:", 1), []string{`nodeTypes["n 4"]: line 5: not a valid node type: a valid label must`}},
		{"a node type with an empty CPU model", strings.Replace(published, "n4:", "n4@:", 1), []string{`nodeTypes["n4@"]: line 5: not a valid node type: must have a node type before and a CPU model after "@"`}},
		{"more than one document", published + "---\nmore: 1\n", []string{"must be one YAML document, but more content follows ---"}},
		{"all together", "baselineNodeType: x\nnodeTypes: {n4: {cpuPerf: -1, memPerf: a}}\nextra: 1",
			[]string{"nodeTypes.n4.cpuPerf: line 2", "nodeTypes.n4.memPerf: line 2", "extra: line 3: unknown key", `baselineNodeType: line 1: "x" is not`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			layer, err := Parse([]byte(tc.text), ratios.Provenance{})
			faults, ok := errors.AsType[Faults](err)
			if !ok {
				t.Fatalf("accepted as %v, error %v", layer, err)
			}
			if len(faults) != len(tc.want) {
				t.Errorf("faults %q, want %d", faults, len(tc.want))
			}
			for _, want := range tc.want {
				if !slices.ContainsFunc(faults, func(f string) bool { return strings.HasPrefix(f, want) }) {
					t.Errorf("no fault of %q begins with %q", faults, want)
				}
			}
		})
	}
}

func rejectsAPerformanceThatIsNotAFiniteNumberAbove0(t *testing.T) {
	for _, bad := range []string{"0", "-1", "0.0", ".nan", ".inf", "-.inf", "1e999", `"1.0"`, "yes", "~", "[1]", "{}"} {
		_, err := Parse([]byte("baselineNodeType: a\nnodeTypes: {a: {cpuPerf: "+bad+", memPerf: 1}}"), ratios.Provenance{})
		if err == nil || !strings.Contains(err.Error(), "nodeTypes.a.cpuPerf") {
			t.Errorf("cpuPerf %s: %v", bad, err)
		}
	}
}

func readsTheMaximumSpeedRatioOfTheGlobalsAndOfRules(t *testing.T) {
	got, err := Parse([]byte(published+"maxSpeedRatio: 1\npodLabels: {env: {test: {maxSpeedRatio: 7.5}, live: {baselineNodeType: n4}}}\n"), ratios.Provenance{})
	if err != nil {
		t.Fatal(err)
	}
	if got.MaxSpeedRatio != 1 || len(got.Rules) != 2 || got.Rules[0].MaxSpeedRatio != 7.5 || got.Rules[1].MaxSpeedRatio != 0 {
		t.Errorf("maximum %v, rules %+v", got.MaxSpeedRatio, got.Rules)
	}
}

func rejectsAMaximumSpeedRatioBelow1(t *testing.T) {
	for _, bad := range []string{"0", "0.999", "-5", ".nan", ".inf", "1e999", `"5"`, "5x", "~", "[5]"} {
		_, err := Parse([]byte(published+"maxSpeedRatio: "+bad), ratios.Provenance{})
		if err == nil || !strings.HasPrefix(err.Error(), "maxSpeedRatio: line 10: must be a finite number of at least 1, such as 5, not ") {
			t.Errorf("maxSpeedRatio %s: %v", bad, err)
		}
	}
}
