package contract

import (
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/test/docpage"
)

func TestReference(t *testing.T) {
	t.Run("has every annotation", hasEveryAnnotation)
	t.Run("has every harm", hasEveryHarm)
}

func hasEveryAnnotation(t *testing.T) {
	of := map[string]string{
		"AppliedInstanceType": AppliedInstanceType, "AppliedAt": AppliedAt, "AppliedSizes": AppliedSizes, "AppliedDemand": AppliedDemand,
		"CreatedSizes": CreatedSizes, "Reverts": Reverts, "AdoptedAt": AdoptedAt, "OriginalsBy": OriginalsBy, "Infeasible": Infeasible, "Skip": Skip, "EvictionRank": EvictionRank, "Mode": Mode,
	}
	for i, name := range []string{"CPURequest", "CPULimit", "MemoryRequest", "MemoryLimit"} {
		of[name] = Originals[i].Key("<container>")
	}
	var originals, others [][]string
	for _, c := range docpage.Comments(t, "annotations.go") {
		key, documented := of[c.Name]
		if !documented {
			// These are values, not keys.
			if c.Name != "SkipTrue" {
				t.Errorf("the reference does not have %s", c.Name)
			}
			continue
		}
		delete(of, c.Name)
		by := "you"
		if Ours(key) {
			by = "workload-resizer"
		}
		row := []string{"`" + strings.TrimPrefix(key, Prefix) + "`", by, c.Text}
		if IsOriginal(key) {
			originals = append(originals, row)
		} else {
			others = append(others, row)
		}
	}
	for name := range of {
		t.Errorf("%s has no comment", name)
	}
	var adopted []string
	for _, original := range Originals {
		adopted = append(adopted, "`"+strings.TrimPrefix(original.AdoptedKey("<container>"), Prefix)+"`")
	}
	others = append(others, []string{strings.Join(adopted, ", "), "workload-resizer", "the size of another actor that was adopted (`--externally-resized=adopt`), or the one that a VerticalPodAutoscaler or kube-startup-cpu-boost sets back when it ends a boost"})
	docpage.Generated(t, "docs/reference/annotations.md", map[string]string{
		"annotations": docpage.Table([]string{"Annotation", "Written by", "Value"}, append(originals, others...)...),
	})
}

func hasEveryHarm(t *testing.T) {
	var rows [][]string
	for i, c := range docpage.Comments(t, "harm.go") {
		if i >= len(Harms) || c.Name != string(Harms[i]) {
			t.Fatalf("%s is not the harm %d", c.Name, i)
		}
		what, reverted, _ := strings.Cut(c.Text, ". Reverted: ")
		rows = append(rows, []string{"`" + c.Name + "`", what, reverted})
	}
	if len(rows) != len(Harms) {
		t.Errorf("%d harms have a comment, want %d", len(rows), len(Harms))
	}
	docpage.Generated(t, "docs/reference/guard.md", map[string]string{
		"harms": docpage.Table([]string{"Harm", "What happened after the resize", "Reverted, if the resize lowered it"}, rows...),
	})
}
