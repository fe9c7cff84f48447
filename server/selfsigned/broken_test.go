package selfsigned

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func testBroken(t *testing.T, admin kubernetes.Interface, namespace string, log *buffer) {
	o := newObjects(t, admin, namespace, "broken")
	k, other := start(t, o.config(admin)), start(t, o.config(admin))
	o.settled(k, other)
	for _, tc := range []struct {
		name, logged string
		edit         func(map[string][]byte)
	}{
		{"the authority", "ca.crt cannot be read", func(d map[string][]byte) { d["ca.crt"] = []byte("nonsense") }},
		{"the authority's key", "ca.key cannot be used", func(d map[string][]byte) { d["ca.key"] = []byte("nonsense") }},
		{"the key of another authority", "ca.key cannot be used: not the key of the first", func(d map[string][]byte) { d["ca.key"] = d["tls.key"] }},
		{"a missing key of the authority", "ca.crt and ca.key are not both set", func(d map[string][]byte) { delete(d, "ca.key") }},
		{"the certificate", "tls.crt cannot be read", func(d map[string][]byte) { d["tls.crt"] = []byte("nonsense") }},
		{"another key", "tls.crt and tls.key cannot be used", func(d map[string][]byte) { d["tls.key"] = d["ca.key"] }},
		{"everything is deleted", "Created a certificate authority", func(d map[string][]byte) { clear(d) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := len(log.String())
			serves(t, k, func() {
				o.edit(tc.edit)
				o.settled(k, other)
			})
			if logged := log.String()[before:]; !strings.Contains(logged, tc.logged) {
				t.Errorf("the log does not contain %q:\n%s", tc.logged, logged)
			}
		})
	}
	t.Run("the published authorities", func(t *testing.T) {
		cm, err := admin.CoreV1().ConfigMaps(namespace).Get(t.Context(), o.name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		cm.Data["ca.crt"] = "nonsense"
		if _, err := admin.CoreV1().ConfigMaps(namespace).Update(t.Context(), cm, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		o.settled(k, other)
	})
}

// serves checks that a replica always has a certificate while something else happens.
func serves(t *testing.T, k *Keeper, meanwhile func()) {
	t.Helper()
	over, refused := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			if _, err := k.GetCertificate(nil); err != nil {
				refused <- err
				return
			}
			select {
			case <-over:
				refused <- nil
				return
			case <-time.After(100 * time.Microsecond): // Leave time for other goroutines.
			}
		}
	}()
	defer func() {
		close(over)
		if err := <-refused; err != nil {
			t.Errorf("the last good certificate is not served: %v", err)
		}
	}()
	meanwhile()
}

func testForeign(t *testing.T, admin kubernetes.Interface, namespace string) {
	o := newObjects(t, admin, namespace, "foreign")
	made, err := localcluster.ServingCertificate(t.TempDir(), host)
	if err != nil {
		t.Fatal(err)
	}
	k := start(t, o.config(admin))
	o.settled(k)
	certificate, errCertificate := os.ReadFile(made.CertFile)
	key, errKey := os.ReadFile(made.KeyFile)
	if err := errors.Join(errCertificate, errKey); err != nil {
		t.Fatal(err)
	}
	foreign := map[string][]byte{"ca.crt": certificate, "tls.crt": certificate, "tls.key": key}
	o.edit(func(data map[string][]byte) {
		clear(data)
		maps.Copy(data, foreign)
	})
	localcluster.Eventually(t, "the problem that the certificate is foreign", func() error {
		if err := k.Problem(); !errors.Is(err, errForeign) {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
	if _, err := o.call(k, o.bundle()); err != nil {
		t.Errorf("the last good certificate is not served: %v", err)
	}
	second := start(t, o.config(admin))
	notReady(t, second, "is not replaced")
	if data := o.secret().Data; !reflect.DeepEqual(data, foreign) {
		t.Errorf("the Secret was changed")
	}
	o.edit(func(data map[string][]byte) { clear(data) })
	o.settled(k, second)
}
