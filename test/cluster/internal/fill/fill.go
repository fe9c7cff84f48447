package fill

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/state"
)

// Options describe the copies.
type Options struct {
	// Templates are the pods to copy, as NAMESPACE/NAME. Workloads use them in turn.
	Templates []string
	// Namespace is the namespace of the copies. It must not hold other pods.
	Namespace string
	// Copies is the number of copies. Missing copies are created and surplus copies are
	// deleted.
	Copies int
	// Nodes is the number of nodes over which the copies of each template are spread.
	// Their names end in -0, -1, and so on; the first is the template's node.
	Nodes int
	// PerWorkload is the number of copies that share an owner of their own. With 0, every
	// copy keeps its template's owner, and consecutive copies use the templates in turn.
	PerWorkload int
}

const (
	// pods is the key under which the API server stores pods.
	pods = "/registry/pods"
	// writers is the number of concurrent requests.
	writers     = 64
	dialTimeout = 10 * time.Second
)

// Run creates missing copies and deletes surplus ones.
func Run(ctx context.Context, cluster *state.Cluster, options Options) error {
	client, err := dial(cluster)
	if err != nil {
		return err
	}
	err = options.run(ctx, client)
	if closed := client.Close(); err == nil {
		err = closed
	}
	return err
}

func dial(cluster *state.Cluster) (*clientv3.Client, error) {
	files := transport.TLSInfo{
		CertFile:      cluster.Cert(state.EtcdClient),
		KeyFile:       cluster.Key(state.EtcdClient),
		TrustedCAFile: cluster.Cert(state.EtcdCA),
	}
	config, err := files.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("read etcd's client certificate: %w", err)
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{fmt.Sprintf("https://127.0.0.1:%d", cluster.Ports.EtcdClient)}, TLS: config, DialTimeout: dialTimeout,
	})
	if err != nil {
		return nil, fmt.Errorf("dial etcd: %w", err)
	}
	return client, nil
}

func (o *Options) run(ctx context.Context, client *clientv3.Client) error {
	templates := make([]*corev1.Pod, len(o.Templates))
	for i, name := range o.Templates {
		answer, err := client.Get(ctx, path.Join(pods, name))
		if err != nil {
			return fmt.Errorf("read pod %s: %w", name, err)
		}
		if len(answer.Kvs) == 0 {
			return fmt.Errorf("read pod %s: not found; create it first", name)
		}
		if templates[i], err = decode(answer.Kvs[0].Value); err != nil {
			return fmt.Errorf("decode pod %s: %w", name, err)
		}
	}
	prefix := path.Join(pods, o.Namespace) + "/"
	there, err := client.Get(ctx, prefix, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		return fmt.Errorf("list the copies in %s: %w", o.Namespace, err)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	known := map[int]bool{}
	for _, kv := range there.Kvs {
		key := string(kv.Key)
		number, err := strconv.Atoi(key[strings.LastIndex(key, "-")+1:])
		if err != nil {
			return fmt.Errorf("pod %s is not a copy; use another namespace", strings.TrimPrefix(key, pods+"/"))
		}
		if number < o.Copies {
			known[number] = true
			continue
		}
		group.Go(func() error {
			_, err := client.Delete(ctx, key)
			return err
		})
	}
	for number := range o.Copies {
		if known[number] {
			continue
		}
		group.Go(func() error {
			pod := o.copy(templates, number)
			value, err := encode(pod)
			if err == nil {
				_, err = client.Put(ctx, prefix+pod.Name, string(value))
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("write the copies in %s: %w", o.Namespace, err)
	}
	return nil
}
