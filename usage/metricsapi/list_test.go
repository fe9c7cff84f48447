package metricsapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	metrics "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	"k8s.io/metrics/pkg/client/clientset/versioned/scheme"
)

// encoded returns a list with these pods as the API server sends it.
func encoded(t testing.TB, pods ...metrics.PodMetrics) []byte {
	t.Helper()
	var b bytes.Buffer
	list := &metrics.PodMetricsList{
		TypeMeta: metav1.TypeMeta{Kind: "PodMetricsList", APIVersion: "metrics.k8s.io/v1beta1"},
		ListMeta: metav1.ListMeta{ResourceVersion: "17"}, Items: pods,
	}
	if err := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(list, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// namesIn returns the names of the pods that readList finds.
func namesIn(form []byte) (names []string, err error) {
	err = readList(bytes.NewReader(form), func(p *metrics.PodMetrics) { names = append(names, p.Name) })
	return names, err
}

func TestReadList(t *testing.T) {
	t.Run("decodes each pod as it was encoded", func(t *testing.T) {
		var want, got []metrics.PodMetrics
		for n := range 1000 {
			want = append(want, pod("shop", fmt.Sprint("web-", n), at, "app 250m 64Mi", strings.Repeat("x", n+1)+" 1 1Gi"))
		}
		if err := readList(bytes.NewReader(encoded(t, want...)), func(p *metrics.PodMetrics) { got = append(got, *p) }); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("an empty list has no pods", func(t *testing.T) {
		if names, err := namesIn(encoded(t)); err != nil || len(names) != 0 {
			t.Errorf("%q, %v", names, err)
		}
	})
	t.Run("a list that ends early is an error, after the pods before that", func(t *testing.T) {
		whole := encoded(t, pod("shop", "a", at, "app 1 1Gi"), pod("shop", "b", at, "app 1 1Gi"))
		most := 0
		for n := range bytes.LastIndex(whole, []byte("app")) {
			names, err := namesIn(whole[:n])
			if most = max(most, len(names)); len(names) > 1 || len(names) == 1 && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%d bytes of %d: %q, %v", n, len(whole), names, err)
			}
		}
		if most != 1 {
			t.Error("the first pod is never passed")
		}
	})
	t.Run("bytes that are no list are an error", func(t *testing.T) {
		for name, text := range map[string]string{
			"nothing": "", "an empty envelope": magic, "a length of one byte more": magic + "\x12\x01", "text": "no metrics", "another envelope": magic + "\x0b", "a length beyond the end": magic + "\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
			"an item that is too large": magic + "\x12\x80\x80\x80\x80\x10\x12\xff\xff\xff\x7f", "an item that is no pod": magic + "\x12\x04\x12\x02\xff\xff",
		} {
			if names, err := namesIn([]byte(text)); err == nil || len(names) > 0 {
				t.Errorf("%s: %q, %v", name, names, err)
			}
		}
	})
}
