package nodetype

import "testing"

func TestModel(t *testing.T) {
	discovered := map[string]string{LabelCPUVendor: "Intel", LabelCPUFamily: "6", LabelCPUModel: "143"}
	both := map[string]string{LabelCPUVendor: "Intel", LabelCPUFamily: "6", LabelCPUModel: "143", LabelOwnCPUModel: "Intel-6-79"}
	for _, tc := range []struct {
		name         string
		labels       map[string]string
		model, label string
	}{
		{"of the node agent", map[string]string{LabelOwnCPUModel: "AMD-25-1"}, "AMD-25-1", LabelOwnCPUModel},
		{"of Node Feature Discovery", discovered, "Intel-6-143", LabelCPUModel},
		{"the node agent goes first", both, "Intel-6-79", LabelOwnCPUModel},
		{"a part tells nothing", map[string]string{LabelCPUVendor: "Intel"}, "", ""},
		{"no labels", nil, "", ""},
	} {
		if model, label := Model(tc.labels); model != tc.model || label != tc.label {
			t.Errorf("%s: %q of %q, want %q of %q", tc.name, model, label, tc.model, tc.label)
		}
	}
}
