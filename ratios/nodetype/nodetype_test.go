package nodetype

import (
	"slices"
	"testing"
)

func TestResolve(t *testing.T) {
	for _, tc := range []struct {
		name   string
		label  string
		labels map[string]string
		known  []string
		want   Match
		ok     bool
	}{
		{"machine family first", "",
			map[string]string{LabelGCPMachineFamily: "n4", LabelInstanceType: "n2d-standard-8"}, []string{"n4", "n2d"},
			Match{"n4", LabelGCPMachineFamily}, true},
		{"the first that is known wins", "",
			map[string]string{LabelGCPMachineFamily: "n4", LabelInstanceType: "n4-standard-8"}, []string{"n4-standard-8"},
			Match{"n4-standard-8", LabelInstanceType}, true},
		{"the exact instance type before its family", "",
			map[string]string{LabelInstanceType: "n4-standard-8"}, []string{"n4", "n4-standard-8"},
			Match{"n4-standard-8", LabelInstanceType}, true},
		{"family of a Google instance type", "",
			map[string]string{LabelInstanceType: "n4-standard-8"}, []string{"n4"}, Match{"n4", LabelInstanceType}, true},
		{"family of an AWS instance type", "",
			map[string]string{LabelInstanceType: "m7i-flex.large"}, []string{"m7i-flex"}, Match{"m7i-flex", LabelInstanceType}, true},
		{"family of an Azure size", "",
			map[string]string{LabelInstanceType: "Standard_D8as_v5"}, []string{"Das_v5"}, Match{"Das_v5", LabelInstanceType}, true},
		{"family of an Azure size with constrained vCPUs", "",
			map[string]string{LabelInstanceType: "Standard_E32-16s_v3"}, []string{"Es_v3"}, Match{"Es_v3", LabelInstanceType}, true},
		{"family of an Azure size without features", "",
			map[string]string{LabelInstanceType: "Standard_D2"}, []string{"D"}, Match{"D", LabelInstanceType}, true},
		{"AWS and Azure provisioner labels", "",
			map[string]string{LabelAWSFamily: "m7i", LabelAzureSeries: "Dasv5"}, []string{"Dasv5"}, Match{"Dasv5", LabelAzureSeries}, true},
		{"CPU model", "",
			map[string]string{LabelCPUVendor: "Intel", LabelCPUFamily: "6", LabelCPUModel: "143"}, []string{"Intel-6-143"},
			Match{"Intel-6-143", LabelCPUModel}, true},
		{"part of a CPU model tells nothing", "",
			map[string]string{LabelCPUVendor: "Intel", LabelCPUModel: "143"}, []string{"Intel"}, Match{}, false},
		{"architecture last", "",
			map[string]string{LabelArch: "arm64", LabelInstanceType: "t2a-standard-1"}, []string{"arm64", "t2a"},
			Match{"t2a", LabelInstanceType}, true},
		{"none known: the first is named", "",
			map[string]string{LabelGCPMachineFamily: "x9", LabelArch: "amd64"}, []string{"n4"}, Match{"x9", LabelGCPMachineFamily}, false},
		{"no label", "", nil, []string{"n4"}, Match{}, false},
		{"a chosen label alone counts", "pool",
			map[string]string{"pool": "fast", LabelGCPMachineFamily: "n4"}, []string{"n4"}, Match{"fast", "pool"}, false},
		{"a chosen label that is known", "pool",
			map[string]string{"pool": "fast"}, []string{"fast"}, Match{"fast", "pool"}, true},
		{"a chosen label that is missing", "pool",
			map[string]string{LabelGCPMachineFamily: "n4"}, []string{"n4"}, Match{}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, ok := New(tc.label).Resolve(tc.labels, func(s string) bool { return slices.Contains(tc.known, s) })
			if got != tc.want || ok != tc.ok {
				t.Errorf("got %v, %v; want %v, %v", got, ok, tc.want, tc.ok)
			}
		})
	}
}

func TestFamilyOfMachineFamilyWithDashes(t *testing.T) {
	// AWS names may have a dash before the dot; Google's never have a dot.
	for in, want := range map[string]string{
		"m7i-flex.large": "m7i-flex", "u-6tb1.metal": "u-6tb1", "c3-standard-4-lssd": "c3",
		"custom": "", "": "", ".large": "", "-x": "",
	} {
		if got := family(in); got != want {
			t.Errorf("family(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLabelsNamesEachOnce(t *testing.T) {
	if got := New("pool").Labels(); !slices.Equal(got, []string{"pool"}) {
		t.Errorf("chosen label: %v", got)
	}
	got := New("").Labels()
	if got[0] != LabelGCPMachineFamily || got[len(got)-1] != LabelArch || len(slices.Compact(slices.Sorted(slices.Values(got)))) != len(got) {
		t.Errorf("default labels: %v", got)
	}
}
