package safety

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestFirst(t *testing.T) {
	t.Run("returns the objection of the first name that has one", func(t *testing.T) {
		list := corev1.ResourceList{"a": resource.MustParse("1"), "b": resource.MustParse("1"), "c": resource.MustParse("1")}
		for range 100 { // The order of a map differs each time.
			got := first(list, func(name corev1.ResourceName, _ resource.Quantity) string {
				if name == "a" {
					return ""
				}
				return string(name) + " is wrong"
			})
			if got != "b is wrong" {
				t.Fatalf("the objection is %q", got)
			}
		}
	})
}
