package hold

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/internal/document"
)

// Freeze stops all writes to pods, in the whole cluster. It outranks every hold. It has a
// ConfigMap of its own, whose existence is enough, so that it always fits, does not depend on
// any other content, and can be set with kubectl.
type Freeze struct {
	// Reason and Author are as the caller gave them; they are not verified.
	Reason, Author string
	// CredentialID identifies the credential of the author; empty if it is not known.
	CredentialID string
	// Since is the start of the freeze, in whole seconds.
	Since time.Time
}

// Keys of the ConfigMap. Only keyFrozen counts; the others are information.
const (
	keyFrozen     = "frozen"
	keyReason     = "reason"
	keyAuthor     = "author"
	keyCredential = "credentialID"
	keySince      = "since"
)

// frozen and notFrozen are values of keyFrozen. Every other value, and a missing key, counts as
// frozen: a freeze must work despite a typo.
const (
	frozen    = "true"
	notFrozen = "false"
)

// notShown replaces text that would disturb logs and tables, or fill them.
const notShown = "(not shown: it must be one line of up to 512 bytes)"

// freezeIn returns the freeze that the ConfigMap contains; nil if there is none.
func freezeIn(cm *corev1.ConfigMap) *Freeze {
	if cm.Data[keyFrozen] == notFrozen {
		return nil
	}
	f := &Freeze{Reason: shown(cm.Data[keyReason], maxReason), Author: shown(cm.Data[keyAuthor], maxAuthor), CredentialID: shown(cm.Data[keyCredential], maxCredentialID)}
	since, err := document.ParseTime(cm.Data[keySince])
	if err != nil || since.IsZero() {
		since = cm.CreationTimestamp.UTC() // kubectl alone sets no time.
	}
	f.Since = since
	return f
}

func shown(text string, most int) string {
	if len(document.LineProblems(text, most)) > 0 {
		return notShown
	}
	return text
}

// data returns what the ConfigMap must contain.
func (f Freeze) data() map[string]string {
	return map[string]string{
		keyFrozen: frozen, keyReason: f.Reason, keyAuthor: f.Author, keyCredential: f.CredentialID, keySince: document.TimeText(f.Since),
	}
}
