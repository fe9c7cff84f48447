package ratios

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestProvenance(t *testing.T) {
	t.Run("unchanged values keep their provenance", unchangedValuesKeepTheirProvenance)
}

func unchangedValuesKeepTheirProvenance(t *testing.T) {
	from := func(author string) Provenance { return Provenance{Source: "file", Author: author} }
	ratio := func(cpu, memory float64, author string) Ratio {
		return Ratio{CPUPerf: cpu, MemoryPerf: memory, Provenance: from(author)}
	}
	expiring := ratio(1, 1, "bob")
	expiring.ExpireTime = time.Unix(1, 0)
	layer := func() *Layer {
		return &Layer{
			Ratios: map[string]Ratio{"same": ratio(1, 2, "bob"), "cpu": ratio(2, 1, "bob"), "memory": ratio(1, 2, "bob"), "expires": expiring, "new": ratio(1, 1, "bob")},
			Rules: []Rule{
				{Name: "overrides[0] (a)", Ratios: map[string]Ratio{"same": ratio(3, 3, "bob"), "new": ratio(1, 1, "bob")}},
				{Name: "overrides[1] (b)", Ratios: map[string]Ratio{"same": ratio(3, 3, "bob")}},
			},
		}
	}
	got, want := layer(), layer()
	got.KeepProvenance(&Layer{
		Ratios: map[string]Ratio{"same": ratio(1, 2, "ann"), "cpu": ratio(1, 1, "ann"), "memory": ratio(1, 1, "ann"), "expires": ratio(1, 1, "ann"), "gone": ratio(1, 1, "ann")},
		Rules:  []Rule{{Name: "overrides[0] (a)", Ratios: map[string]Ratio{"same": ratio(3, 3, "ann")}}},
	})
	want.Ratios["same"] = ratio(1, 2, "ann")
	want.Rules[0].Ratios["same"] = ratio(3, 3, "ann")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got = layer()
	got.KeepProvenance(nil)
	if diff := cmp.Diff(layer(), got); diff != "" {
		t.Errorf("without a previous layer: %s", diff)
	}
}
