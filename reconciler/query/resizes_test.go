package query

import (
	"context"
	"errors"
	"fmt"
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
	t.Run("asks about namespaces when the page reaches them", asksAboutNamespacesWhenThePageReachesThem)
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
		{"visible namespaces", ResizeQuery{Visible: only("shop")}, 9, "shop/cart shop/web"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, err := resizesOf(t.Context(), r, tc.q, tc.most); got != tc.want || err != nil {
				t.Errorf("%q, %v; want %q", got, err, tc.want)
			}
		})
	}
}

// A namespace is asked about even if no pod of it matches.
func asksAboutNamespacesWhenThePageReachesThem(t *testing.T) {
	var pods []*corev1.Pod
	for n := range 200 {
		sized := func(p *corev1.Pod) {
			if n%2 == 0 {
				podtest.SizedForN4(p)
			}
		}
		pods = append(pods, podtest.Pod(podtest.Guaranteed, clustertest.Named(fmt.Sprintf("team-%03d", n), "web", "a"), sized))
	}
	r := filled(t, pods, nil)
	for _, tc := range []struct {
		after string
		most  int
		want  string
	}{{"", 1, "team-000 64"}, {"", 33, "team-000 128"}, {"", 1000, "team-000 200"}, {"team-150", 1, "team-150 50"}} {
		var asked []string
		_, err := resizesOf(t.Context(), r, ResizeQuery{After: types.NamespacedName{Namespace: tc.after}, Visible: func(namespaces ...string) ([]string, error) {
			asked = append(asked, namespaces...)
			return namespaces, nil
		}}, tc.most)
		if got := fmt.Sprint(asked[0], " ", len(asked)); err != nil || got != tc.want {
			t.Errorf("a page of %d after %q: asked about %q, %v; want %q", tc.most, tc.after, got, err, tc.want)
		}
	}
}

func endsWithAnError(t *testing.T) {
	r := sizedShop(t)
	unknown := errors.New("not known")
	got, err := resizesOf(t.Context(), r, ResizeQuery{Visible: func(...string) ([]string, error) { return nil, unknown }}, 9)
	if got != "" || !errors.Is(err, unknown) {
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
