package selfsigned

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

const host = "workload-resizer.workload-resizer-system.svc"

// objects has the Secret and the ConfigMap on a real API server, and a fake clock.
type objects struct {
	t               *testing.T
	admin           kubernetes.Interface
	namespace       string
	name, published string
	clock           *testingclock.FakeClock
}

func newObjects(t *testing.T, admin kubernetes.Interface, namespace, name string) *objects {
	o := &objects{t, admin, namespace, name, name, testingclock.NewFakeClock(time.Now())}
	o.createSecret()
	o.createConfigMap()
	return o
}

func (o *objects) createSecret() {
	o.t.Helper()
	if _, err := o.admin.CoreV1().Secrets(o.namespace).Create(o.t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: o.name}}, metav1.CreateOptions{}); err != nil {
		o.t.Fatal(err)
	}
}

func (o *objects) createConfigMap() {
	o.t.Helper()
	if _, err := o.admin.CoreV1().ConfigMaps(o.namespace).Create(o.t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: o.published}}, metav1.CreateOptions{}); err != nil {
		o.t.Fatal(err)
	}
}

func (o *objects) config(client kubernetes.Interface) Config {
	return Config{Client: client, Namespace: o.namespace, SecretName: o.name, ConfigMapName: o.published, DNSNames: []string{host}, Clock: o.clock}
}

// start runs a replica until the test is over.
func start(t *testing.T, config Config) *Keeper {
	t.Helper()
	k := New(config)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- k.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("ended with %v", err)
		}
	})
	return k
}

func (o *objects) secret() *corev1.Secret {
	o.t.Helper()
	secret, err := o.admin.CoreV1().Secrets(o.namespace).Get(o.t.Context(), o.name, metav1.GetOptions{})
	if err != nil {
		o.t.Fatal(err)
	}
	return secret
}

// edit changes the Secret as a user with an editor would.
func (o *objects) edit(change func(data map[string][]byte)) {
	o.t.Helper()
	localcluster.Eventually(o.t, "the update of the Secret", func() error {
		secret := o.secret()
		if secret.Data == nil {
			secret.Data = map[string][]byte{}
		}
		change(secret.Data)
		_, err := o.admin.CoreV1().Secrets(o.namespace).Update(o.t.Context(), secret, metav1.UpdateOptions{})
		return err
	})
}

// bundle returns the authorities that callers trust.
func (o *objects) bundle() string {
	o.t.Helper()
	cm, err := o.admin.CoreV1().ConfigMaps(o.namespace).Get(o.t.Context(), o.published, metav1.GetOptions{})
	if err != nil {
		o.t.Fatal(err)
	}
	return cm.Data["ca.crt"]
}

// call connects as a caller that trusts the bundle, and returns the certificate.
func (o *objects) call(k *Keeper, bundle string) (*x509.Certificate, error) {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(bundle))
	// Not a net.Pipe, in which a caller that rejects the certificate and a server that still writes wait for each
	// other.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer func() { _ = listener.Close() }()
	served := make(chan error, 1)
	go func() {
		far, err := listener.Accept()
		if err == nil {
			err = tls.Server(far, &tls.Config{GetCertificate: k.GetCertificate}).Handshake()
			_ = far.Close()
		}
		served <- err
	}()
	near, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		return nil, err
	}
	caller := tls.Client(near, &tls.Config{RootCAs: roots, ServerName: host, Time: o.clock.Now})
	err = caller.Handshake()
	_ = near.Close()
	if err := errors.Join(err, <-served); err != nil {
		return nil, err
	}
	return caller.ConnectionState().PeerCertificates[0], nil
}

// settled waits until no write is due, and all replicas serve the one certificate of the
// Secret to a caller that trusts the ConfigMap. It advances the clock.
func (o *objects) settled(replicas ...*Keeper) {
	o.t.Helper()
	localcluster.Eventually(o.t, "no write to be due", func() error {
		o.clock.Step(period)
		bundle := o.bundle()
		c, err := parse(o.secret().Data, nil, o.clock.Now())
		if err != nil {
			return err
		}
		if next := c.next([]string{host}, string(o.secret().Data["ca.crt"]) == bundle, o.clock.Now()); next != nothing {
			return fmt.Errorf("step %d is next", next)
		}
		for i, k := range replicas {
			leaf, err := o.call(k, bundle)
			if err != nil {
				return err
			}
			if !leaf.Equal(c.serving.Leaf) || !k.Expiry().Equal(leaf.NotAfter) {
				return fmt.Errorf("replica %d serves another certificate", i)
			}
			if err := errors.Join(k.Ready(), k.Problem()); err != nil {
				return err
			}
		}
		return nil
	})
}
