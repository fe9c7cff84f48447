package nodetype

import (
	"maps"
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
		{"the first known type wins", "",
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
		{"an incomplete CPU model is ignored", "",
			map[string]string{LabelCPUVendor: "Intel", LabelCPUModel: "143"}, []string{"Intel"}, Match{}, false},
		{"the node agent's CPU model before that of Node Feature Discovery", "",
			map[string]string{LabelOwnCPUModel: "Intel-6-79", LabelCPUVendor: "Intel", LabelCPUFamily: "6", LabelCPUModel: "143"}, []string{"Intel-6-143", "Intel-6-79"},
			Match{"Intel-6-79", LabelOwnCPUModel}, true},
		{"a CPU model by itself comes after the families and before the instance type", "",
			map[string]string{LabelOwnCPUModel: "Intel-6-79", LabelAWSFamily: "m7i", LabelInstanceType: "m7i.large"}, []string{"Intel-6-79", "m7i.large"},
			Match{"Intel-6-79", LabelOwnCPUModel}, true},
		{"a type with its CPU model before the type", "",
			map[string]string{LabelOwnCPUModel: "Intel-6-79", LabelGCPMachineFamily: "e2"}, []string{"e2", "e2@Intel-6-79"},
			Match{"e2@Intel-6-79", LabelGCPMachineFamily + "," + LabelOwnCPUModel}, true},
		{"the CPU model of a type by Node Feature Discovery", "",
			map[string]string{LabelCPUVendor: "Intel", LabelCPUFamily: "6", LabelCPUModel: "79", LabelGCPMachineFamily: "e2"}, []string{"e2", "e2@Intel-6-79"},
			Match{"e2@Intel-6-79", LabelGCPMachineFamily + "," + LabelCPUModel}, true},
		{"a type whose CPU model has no ratio of its own", "",
			map[string]string{LabelOwnCPUModel: "Intel-6-143", LabelGCPMachineFamily: "e2"}, []string{"e2", "e2@Intel-6-79"},
			Match{"e2", LabelGCPMachineFamily}, true},
		{"a type without a known CPU model", "",
			map[string]string{LabelGCPMachineFamily: "e2"}, []string{"e2", "e2@Intel-6-79"},
			Match{"e2", LabelGCPMachineFamily}, true},
		{"a type before the CPU model of a later type", "",
			map[string]string{LabelOwnCPUModel: "Intel-6-79", LabelGCPMachineFamily: "e2", LabelInstanceType: "e2-standard-8"}, []string{"e2", "e2-standard-8@Intel-6-79"},
			Match{"e2", LabelGCPMachineFamily}, true},
		{"the CPU model of a derived family", "",
			map[string]string{LabelOwnCPUModel: "Intel-6-79", LabelInstanceType: "e2-standard-8"}, []string{"e2", "e2@Intel-6-79"},
			Match{"e2@Intel-6-79", LabelInstanceType + "," + LabelOwnCPUModel}, true},
		{"a CPU model as a type has no CPU model of its own", "",
			map[string]string{LabelOwnCPUModel: "Intel-6-79"}, []string{"Intel-6-79@Intel-6-79"},
			Match{"Intel-6-79", LabelOwnCPUModel}, false},
		{"no known type: returns the first without its CPU model", "",
			map[string]string{LabelOwnCPUModel: "Intel-6-79", LabelGCPMachineFamily: "x9"}, []string{"n4"}, Match{"x9", LabelGCPMachineFamily}, false},
		{"a chosen label with the CPU model", "pool",
			map[string]string{"pool": "fast", LabelOwnCPUModel: "Intel-6-79"}, []string{"fast", "fast@Intel-6-79"}, Match{"fast@Intel-6-79", "pool," + LabelOwnCPUModel}, true},
		{"a chosen label whose CPU model has no ratio of its own", "pool",
			map[string]string{"pool": "fast", LabelOwnCPUModel: "Intel-6-79"}, []string{"fast"}, Match{"fast", "pool"}, true},
		{"a CPU model does not replace a chosen label", "pool",
			map[string]string{LabelOwnCPUModel: "Intel-6-79"}, []string{"Intel-6-79", "@Intel-6-79"}, Match{}, false},
		{"architecture last", "",
			map[string]string{LabelArch: "arm64", LabelInstanceType: "t2a-standard-1"}, []string{"arm64", "t2a"},
			Match{"t2a", LabelInstanceType}, true},
		{"no known type: returns the first", "",
			map[string]string{LabelGCPMachineFamily: "x9", LabelArch: "amd64"}, []string{"n4"}, Match{"x9", LabelGCPMachineFamily}, false},
		{"no label", "", nil, []string{"n4"}, Match{}, false},
		{"only the chosen label is read", "pool",
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

func TestNodetype(t *testing.T) {
	t.Run("derives the family of names with dashes", derivesTheFamilyOfNamesWithDashes)
	t.Run("lists every label that can change the type once", listsEveryLabelThatCanChangeTheTypeOnce)
}

func derivesTheFamilyOfNamesWithDashes(t *testing.T) {
	// AWS names may have a dash before the dot; Google's never have a dot.
	for in, want := range map[string]string{
		"m7i-flex.large": "m7i-flex", "u-6tb1.metal": "u-6tb1", "c3-standard-4-lssd": "c3",
		"custom": "", "": "", ".large": "", "-x": "",
	} {
		if got := Family(in); got != want {
			t.Errorf("Family(%q) = %q, want %q", in, got, want)
		}
	}
}

func listsEveryLabelThatCanChangeTheTypeOnce(t *testing.T) {
	models := []string{LabelOwnCPUModel, LabelCPUVendor, LabelCPUFamily, LabelCPUModel}
	for _, tc := range []struct {
		label         string
		want, telling []string
	}{
		{"pool", append([]string{"pool"}, models...), []string{"pool"}},
		{"",
			slices.Concat([]string{LabelGCPMachineFamily, LabelAWSFamily, LabelAzureSeries}, models, []string{LabelInstanceType, LabelArch}),
			[]string{LabelGCPMachineFamily, LabelAWSFamily, LabelAzureSeries, LabelOwnCPUModel, LabelCPUModel, LabelInstanceType, LabelArch}},
	} {
		r := New(tc.label)
		if got := r.Labels(); !slices.Equal(got, tc.want) {
			t.Errorf("%q reads %v, want %v", tc.label, got, tc.want)
		}
		if got := r.TellingLabels(); !slices.Equal(got, tc.telling) {
			t.Errorf("%q: TellingLabels returned %v, want %v", tc.label, got, tc.telling)
		}
	}
}

func BenchmarkResolve(b *testing.B) {
	gke := map[string]string{LabelGCPMachineFamily: "e2", LabelInstanceType: "e2-standard-8", LabelArch: "amd64", "kubernetes.io/os": "linux",
		"topology.kubernetes.io/zone": "europe-west1-b", "topology.kubernetes.io/region": "europe-west1", "cloud.google.com/gke-nodepool": "main",
		"kubernetes.io/hostname": "gke-main-1", "cloud.google.com/gke-boot-disk": "pd-balanced", "cloud.google.com/gke-os-distribution": "cos"}
	measured := maps.Clone(gke)
	measured[LabelOwnCPUModel] = "Intel-6-79"
	for _, bc := range []struct {
		name   string
		labels map[string]string
		known  string
	}{
		{"no CPU model", gke, "e2"},
		{"CPU model without a ratio", measured, "e2"},
		{"CPU model with a ratio", measured, "e2@Intel-6-79"},
		{"unknown", gke, "n4"},
	} {
		b.Run(bc.name, func(b *testing.B) {
			known := map[string]bool{bc.known: true}
			b.ReportAllocs()
			for b.Loop() {
				New("").Resolve(bc.labels, func(s string) bool { return known[s] })
			}
		})
	}
}
