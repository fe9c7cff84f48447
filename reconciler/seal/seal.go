package seal

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// Valid is for how long after it was signed a pod may be created with it.
	Valid = 5 * time.Minute
	// macSize is the length of a MAC, in bytes.
	macSize = 16
	// noType stands for an unknown node type.
	noType = "-"
)

// ErrNoKey means that there is no key yet that all replicas have read.
var ErrNoKey = errors.New("there is no key to sign with yet")

// Creation is what was done to a pod while it was being created.
type Creation struct {
	// NodeType is the type of the node that the sizes are for; empty if that was not known.
	NodeType string
	// At is when that was, in whole seconds.
	At time.Time
	// Sizes are the sizes before and after, in the form of pod.AppliedSizes, and Demand what its containers need according to
	// usage, in the form of pod.AppliedDemand; empty if no size follows from that.
	Sizes, Demand string
}

// beforeDemand is what the demand follows. No name of a container has it, as the API server checks.
const beforeDemand = "|"

// Subject is what identifies a pod that is being created.
type Subject struct {
	Namespace string
	// Owner is the uid of its controller, which no other cluster has, and Revision the hash of the template that it was
	// created from, since the controller outlives its template.
	Owner, Revision string
}

// SubjectOf returns what identifies a pod in a namespace. The pod itself may lack its namespace while it is being created.
func SubjectOf(meta *metav1.ObjectMeta, namespace string) Subject {
	s := Subject{Namespace: namespace, Revision: meta.Labels[appsv1.DefaultDeploymentUniqueLabelKey]}
	if s.Revision == "" {
		s.Revision = meta.Labels[appsv1.ControllerRevisionHashLabelKey]
	}
	if owner := metav1.GetControllerOfNoCopy(meta); owner != nil {
		s.Owner = string(owner.UID)
	}
	return s
}

// Sign returns the value of the annotation that proves what was done to a pod: the node type, the time, the name of the key,
// the MAC, the sizes and the demand. It returns ErrNoKey if there is no key yet.
func (r *Ring) Sign(of Subject, c Creation) (string, error) {
	name := r.current(c.At)
	switch {
	case name == "":
		return "", ErrNoKey
	case of.Owner == "":
		return "", errors.New("a pod without a controller cannot be identified while it is being created")
	case strings.Contains(c.Sizes+c.Demand, beforeDemand):
		return "", errors.New("the name of one of its containers is not valid")
	}
	if c.Demand != "" {
		c.Sizes += beforeDemand + c.Demand
	}
	head := cmp.Or(c.NodeType, noType) + " " + c.At.UTC().Format(time.RFC3339) + " " + name
	return head + " " + base64.RawURLEncoding.EncodeToString(mac(r.keys[name], of, head, c.Sizes)) + " " + c.Sizes, nil
}

// Open returns what the value of the annotation proves about a pod that was created at a time. It returns an error if it
// proves nothing.
func (r *Ring) Open(of Subject, text string, created time.Time) (Creation, error) {
	parts := strings.SplitN(text, " ", 5)
	if len(parts) < 5 {
		return Creation{}, errors.New("it cannot be read")
	}
	nodeType, when, name, signature, sizes := parts[0], parts[1], parts[2], parts[3], parts[4]
	at, err := time.Parse(time.RFC3339, when)
	if err != nil {
		return Creation{}, errors.New("its time cannot be read")
	}
	key := r.key(name)
	if key == nil {
		return Creation{}, fmt.Errorf("the key %.32q that it was signed with is not known", name)
	}
	got, err := base64.RawURLEncoding.Strict().DecodeString(signature)
	switch {
	case err != nil || !hmac.Equal(got, mac(key, of, strings.Join(parts[:3], " "), sizes)):
		return Creation{}, errors.New("it was not signed for this pod")
	case created.Sub(at).Abs() > Valid:
		return Creation{}, fmt.Errorf("it was signed at %s, and is valid for pods that are created within %s", when, Valid)
	case nodeType == noType:
		nodeType = ""
	}
	sizes, demand, _ := strings.Cut(sizes, beforeDemand)
	return Creation{NodeType: nodeType, At: at.UTC(), Sizes: sizes, Demand: demand}, nil
}

func (r *Ring) key(name string) []byte {
	if r == nil {
		return nil
	}
	return r.keys[name]
}

// mac returns the MAC of all parts. Each part has its length in front of it, so that no other parts have the same MAC.
func mac(key []byte, of Subject, head, sizes string) []byte {
	h := hmac.New(sha256.New, key)
	var length [8]byte
	for _, part := range [...]string{of.Namespace, of.Owner, of.Revision, head, sizes} {
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		h.Write(length[:])
		h.Write([]byte(part))
	}
	return h.Sum(nil)[:macSize]
}
