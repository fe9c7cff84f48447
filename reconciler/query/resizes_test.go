package query

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// sizedShop is a cluster in which only some pods were sized.
func sizedShop(t *testing.T) *Queries {
	labelled := func(app string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Labels = map[string]string{"app": app} }
	}
	return filled(t, []*corev1.Pod{
		podtest.Pod(podtest.Guaranteed, clustertest.Named("shop", "web", "a"), labelled("web"), podtest.SizedForN4),
		podtest.Pod(podtest.Guaranteed, clustertest.Named("shop", "cart", "a"), labelled("cart"), podtest.SizedForN4),
		podtest.Pod(podtest.Guaranteed, clustertest.Named("shop", "new", "a"), labelled("web")),
		podtest.Pod(podtest.Guaranteed, clustertest.Named("bank", "teller", "a"), labelled("web"), podtest.SizedForN4),
		podtest.Pod(podtest.Guaranteed, clustertest.Named("bank", "ledger", "a"), labelled("ledger"), podtest.SizedForN4),
		podtest.Pod(podtest.Guaranteed, clustertest.Named("inn", "new", "a")),
	}, nil)
}

func resizesOf(ctx context.Context, r *Queries, q ResizeQuery, most int) (names string, err error) {
	resizes, err := r.Resizes(ctx, q)
	if err != nil {
		return "", err
	}
	var told []string
	for resize, err := range resizes {
		if err != nil {
			return strings.Join(told, " "), err
		}
		if told = append(told, resize.Pod.String()); len(told) == most {
			break
		}
	}
	return strings.Join(told, " "), nil
}

func TestResizes(t *testing.T) {
	t.Run("returns the selected resizes in order", returnsTheSelectedResizesInOrder)
	t.Run("calls Sees only for namespaces on the page", callsSeesOnlyForNamespacesOnThePage)
	t.Run("ends with an error", endsWithAnError)
}

func returnsTheSelectedResizesInOrder(t *testing.T) {
	r := sizedShop(t)
	for _, tc := range []struct {
		name string
		q    ResizeQuery
		most int
		want string
	}{
		{"all", ResizeQuery{}, 9, "bank/ledger bank/teller shop/cart shop/web"},
		{"a namespace", ResizeQuery{Namespace: "shop"}, 9, "shop/cart shop/web"},
		{"a namespace without sized pods", ResizeQuery{Namespace: "inn"}, 9, ""},
		{"labels", ResizeQuery{Selector: labels.SelectorFromSet(labels.Set{"app": "web"})}, 9, "bank/teller shop/web"},
		{"a page", ResizeQuery{}, 3, "bank/ledger bank/teller shop/cart"},
		{"the next page", ResizeQuery{After: types.NamespacedName{Namespace: "shop", Name: "cart"}}, 3, "shop/web"},
		{"a page that begins after a deleted pod", ResizeQuery{After: types.NamespacedName{Namespace: "bank", Name: "n"}}, 2, "bank/teller shop/cart"},
		{"after the last", ResizeQuery{After: types.NamespacedName{Namespace: "shop", Name: "web"}}, 3, ""},
		{"visible namespaces", ResizeQuery{Sees: func(namespace string) (bool, error) { return namespace == "shop", nil }}, 9, "shop/cart shop/web"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, err := resizesOf(t.Context(), r, tc.q, tc.most); got != tc.want || err != nil {
				t.Errorf("%q, %v; want %q", got, err, tc.want)
			}
		})
	}
}

func callsSeesOnlyForNamespacesOnThePage(t *testing.T) {
	r := sizedShop(t)
	for most, want := range map[int][]string{1: {"bank"}, 2: {"bank"}, 3: {"bank", "shop"}, 9: {"bank", "shop"}} {
		var asked []string
		_, err := resizesOf(t.Context(), r, ResizeQuery{Sees: func(namespace string) (bool, error) {
			asked = append(asked, namespace)
			return true, nil
		}}, most)
		if err != nil || !slices.Equal(asked, want) {
			t.Errorf("a page of %d: called for %q, %v; want %q", most, asked, err, want)
		}
	}
}

func endsWithAnError(t *testing.T) {
	r := sizedShop(t)
	unknown := errors.New("not known")
	got, err := resizesOf(t.Context(), r, ResizeQuery{Sees: func(namespace string) (bool, error) {
		if namespace == "shop" {
			return false, unknown
		}
		return true, nil
	}}, 9)
	if got != "bank/ledger bank/teller" || !errors.Is(err, unknown) {
		t.Errorf("%q, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := resizesOf(ctx, r, ResizeQuery{}, 9); got != "" || !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %q, %v", got, err)
	}
	var notReady *cluster.NotReadyError
	if _, err := resizesOf(t.Context(), about(clustertest.Unread(t)), ResizeQuery{}, 9); !errors.As(err, &notReady) || notReady.What != cluster.CacheNotReady {
		t.Errorf("before the cache is filled: %v", err)
	}
}
