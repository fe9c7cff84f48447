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
		{"the node agent's label", map[string]string{LabelOwnCPUModel: "AMD-25-1"}, "AMD-25-1", LabelOwnCPUModel},
		{"labels of Node Feature Discovery", discovered, "Intel-6-143", LabelCPUModel},
		{"the node agent takes precedence", both, "Intel-6-79", LabelOwnCPUModel},
		{"some labels are not enough", map[string]string{LabelCPUVendor: "Intel"}, "", ""},
		{"no labels", nil, "", ""},
	} {
		if model, label := Model(tc.labels); model != tc.model || label != tc.label {
			t.Errorf("%s: %q from %q, want %q from %q", tc.name, model, label, tc.model, tc.label)
		}
	}
}
