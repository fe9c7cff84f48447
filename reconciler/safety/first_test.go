package safety

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestFirst(t *testing.T) {
	t.Run("the objection is that of the first name, whatever else has none", func(t *testing.T) {
		list := corev1.ResourceList{"a": resource.MustParse("1"), "b": resource.MustParse("1"), "c": resource.MustParse("1")}
		for range 100 { // A map has another order each time.
			got := first(list, func(name corev1.ResourceName, _ resource.Quantity) string {
				if name == "a" {
					return ""
				}
				return string(name) + " is wrong"
			})
			if got != "b is wrong" {
				t.Fatalf("it is %q", got)
			}
		}
	})
}
