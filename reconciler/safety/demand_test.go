package safety

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
)

func TestDemand(t *testing.T) {
	t.Run("does not modify large summands", func(t *testing.T) {
		const much = "1e30"
		of := demand{request: resource.MustParse(much), limit: resource.MustParse(much)}
		sum := of.Plus(of)
		if want := resource.MustParse("2e30"); sum.request.Cmp(want) != 0 || sum.limit.Cmp(want) != 0 {
			t.Errorf("the sum is %s and %s", sum.request.String(), sum.limit.String())
		}
		if want := resource.MustParse(much); of.request.Cmp(want) != 0 || of.limit.Cmp(want) != 0 {
			t.Errorf("the summand becomes %s and %s", of.request.String(), of.limit.String())
		}
	})
}
