"""The same runbook in every format that is read."""

from __future__ import annotations

import io

from docx import Document
from docx.document import Document as DocumentObject

RST = """\
=======================
Rotate the signing key
=======================

:Owner: identity

.. warning:: Never do step 3 before all gateways run.

Procedure
=========

#. Make a new key::

     openssl genrsa -out new.pem 4096

#. Upload it:

   a. Log in
   b. Choose :guilabel:`The file`

#. Delete the old key. If that fails, :ref:`roll back <back>`.

.. _back:

Rollback
========

1. Put the old key back
"""
ASCIIDOC = """\
= Rotate the signing key

WARNING: Never do step 3 before all gateways run.

[#_procedure]
== Procedure

. Make a new key
+
[source,bash]
----
openssl genrsa -out new.pem 4096
----
. Upload it:
.. Log in
.. Choose *The file*
. Delete the old key. If that fails, <<_rollback,roll back>>.

== Rollback

. Put the old key back
"""
HTML = """\
<!DOCTYPE html>
<html><head><title>Rotate - Wiki</title><style>p { color: red }</style></head>
<body><nav><ul><li><a href="/edit">Edit this page</a></li></ul></nav>
<h1>Rotate the signing key</h1>
<div class="admonition warning"><p class="admonition-title">Warning</p>
<p>Never do step 3 before all gateways run.</p></div>
<h2>Procedure</h2>
<ol>
<li>Make a new key
<pre><code class="language-bash">openssl genrsa -out new.pem 4096</code></pre></li>
<li>Upload it:
<ol type="a"><li>Log in</li>
<li>Choose <strong>The file</strong></li></ol>
<li>Delete the old key. If that fails, <a href="#back">roll
back</a>.</li>
</ol>
<h2 id="back">Rollback</h2>
<ol><li>Put the old key back</li></ol>
</body></html>
"""
STORED = """\
<h1>Rotate the signing key</h1>
<ac:structured-macro ac:name="warning"><ac:rich-text-body>
<p>Never do step 3 before all gateways run.</p></ac:rich-text-body></ac:structured-macro>
<h2>Procedure</h2>
<ol><li><p>Make a new key</p>
<ac:structured-macro ac:name="code"><ac:parameter ac:name="language">bash</ac:parameter>
<ac:plain-text-body><![CDATA[openssl genrsa -out new.pem 4096]]></ac:plain-text-body>
</ac:structured-macro></li>
<li><p>Upload it:</p><ol><li>Log in</li><li>Choose <b>The file</b></li></ol></li>
<li><p>Delete the old key. If that fails, <a href="#Rollback">roll back</a>.</p></li></ol>
<h2 id="Rollback">Rollback</h2>
<ol><li>Put the old key back</li></ol>
"""
STEPS = [
    ("1", "Make a new key"),
    ("2", "Upload it"),
    ("2.1", "Log in"),
    ("2.2", "Choose **The file**"),
    ("3", "Delete the old key"),
]


def docx() -> bytes:
    """The runbook as Word keeps it: headings, numbered lists, a command by its font."""
    document = Document()
    document.add_heading("Rotate the signing key", 0)
    document.add_paragraph("Warning: never do step 3 before all gateways run.")
    document.add_heading("Procedure", 1)
    document.add_paragraph("Make a new key", style="List Number")
    run = document.add_paragraph().add_run("openssl genrsa -out new.pem 4096")
    run.font.name = "Courier New"
    document.add_paragraph("Upload it:", style="List Number")
    document.add_paragraph("Log in", style="List Bullet 2")
    document.add_paragraph("Choose ", style="List Bullet 2").add_run("The file").bold = True
    document.add_paragraph("Delete the old key. If that fails, roll back.", style="List Number")
    document.add_heading("Rollback", 1)
    document.add_paragraph("Put the old key back", style="List Bullet")
    table = document.add_table(rows=2, cols=2)
    for cell, said in zip(table._cells, ["Step", "Owner", "Tell them", "DBA"], strict=True):
        cell.text = said
    return _saved(document)


def docx_of(rows: list[tuple[str, str]]) -> bytes:
    """A document of paragraphs, each with its style; ``table`` is a row of two cells."""
    document = Document()
    for style, words in rows:
        if style == "table":
            table = document.add_table(rows=1, cols=2)
            table.cell(0, 0).text, _, table.cell(0, 1).text = words.partition(" ")
        else:
            document.add_paragraph(words, style=style)
    return _saved(document)


def _saved(document: DocumentObject) -> bytes:
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()
