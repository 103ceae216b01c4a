#!/usr/bin/env python3
"""Makes tests/golden/tokenizer/chat.jsonl: chat templates of the shapes that models use, and small ones for each feature, with
the text that Jinja makes of them in the environment that Hugging Face's transformers sets up.

    pip install jinja2 && python tools/goldens/make_chat_goldens.py        # made with jinja2 3.1.6

A line is {"template", "variables", "text"}; no "text": Jinja refuses. The templates are written for this test.
"""

import json
import pathlib
import sys

import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "tests/golden/tokenizer/chat.jsonl"
sys.path.insert(0, str(ROOT / "tools"))
import chat_draws  # noqa: E402


class Generation(jinja2.ext.Extension):
    """{% generation %}: what an assistant says, printed as it stands."""

    tags = {"generation"}

    def parse(self, parser):
        next(parser.stream)
        return parser.parse_statements(["name:endgeneration"], drop_needle=True)


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


ENVIRONMENT = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, "jinja2.ext.loopcontrols"])
ENVIRONMENT.filters["tojson"] = tojson
ENVIRONMENT.globals["raise_exception"] = raise_exception

SHAPES = {
    "ChatML": """{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}""",
    "Llama-2": """{% if messages[0]['role'] == 'system' %}
{% set rest = messages[1:] %}{% set system = messages[0]['content'] %}
{% else %}
{% set rest = messages %}{% set system = false %}
{% endif %}
{% for message in rest %}
    {% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
        {{ raise_exception('Roles must alternate user/assistant/user/assistant/...') }}
    {% endif %}
    {% if loop.index0 == 0 and system != false %}
        {% set content = '<<SYS>>\\n' + system + '\\n<</SYS>>\\n\\n' + message['content'] %}
    {% else %}
        {% set content = message['content'] %}
    {% endif %}
    {% if message['role'] == 'user' %}
        {{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}
    {% elif message['role'] == 'assistant' %}
        {{ ' '  + content.strip() + ' ' + eos_token }}
    {% endif %}
{% endfor %}
""",
    "Llama-3": """{{- bos_token }}
{%- if custom_tools is defined %}
    {%- set tools = custom_tools %}
{%- endif %}
{%- if not date_string is defined %}
    {%- set date_string = "26 Jul 2024" %}
{%- endif %}
{%- if not tools is defined %}
    {%- set tools = none %}
{%- endif %}
{#- the system message comes first -#}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{{- "Today Date: " + date_string + "\\n\\n" }}
{%- if tools is not none %}
    {{- "You have the functions:\\n\\n" }}
    {%- for t in tools %}
        {{- t | tojson(indent=4) }}
        {{- "\\n\\n" }}
    {%- endfor %}
{%- endif %}
{{- system_message }}
{{- "<|eot_id|>" }}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim + '<|eot_id|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls|length == 1 %}
            {{- raise_exception("This model only supports single tool-calls at once!") }}
        {%- endif %}
        {%- set tool_call = message.tool_calls[0].function %}
        {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' -}}
        {{- '{"name": "' + tool_call.name + '", ' }}
        {{- '"parameters": ' }}
        {{- tool_call.arguments | tojson }}
        {{- "}" }}
        {{- "<|eot_id|>" }}
    {%- elif message.role == "tool" or message.role == "ipython" %}
        {{- "<|start_header_id|>ipython<|end_header_id|>\\n\\n" }}
        {%- if message.content is mapping or message.content is iterable %}
            {{- message.content | tojson }}
        {%- else %}
            {{- message.content }}
        {%- endif %}
        {{- "<|eot_id|>" }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
""",
    "Qwen2": """{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- if messages[0]['role'] == 'system' %}
        {{- messages[0]['content'] }}
    {%- else %}
        {{- 'You are a helpful assistant.' }}
    {%- endif %}
    {{- "\\n\\n# Tools\\n\\n<tools>" }}
    {%- for tool in tools %}
        {{- "\\n" }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- "\\n</tools><|im_end|>\\n" }}
{%- else %}
    {%- if messages[0]['role'] == 'system' %}
        {{- '<|im_start|>system\\n' + messages[0]['content'] + '<|im_end|>\\n' }}
    {%- else %}
        {{- '<|im_start|>system\\nYou are a helpful assistant.<|im_end|>\\n' }}
    {%- endif %}
{%- endif %}
{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step_tool and message.role == "user" and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.multi_step_tool = false %}
        {%- set ns.last_query_index = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) or (message.role == "assistant" and not message.tool_calls) %}
        {%- set content = message.content %}
        {%- if '</think>' in content %}
            {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
        {%- endif %}
        {{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {{- '<|im_start|>' + message.role }}
        {%- if message.content %}
            {{- '\\n' + message.content }}
        {%- endif %}
        {%- for tool_call in message.tool_calls %}
            {%- if tool_call.function is defined %}
                {%- set tool_call = tool_call.function %}
            {%- endif %}
            {{- '\\n<tool_call>\\n{"name": "' }}
            {{- tool_call.name }}
            {{- '", "arguments": ' }}
            {{- tool_call.arguments | tojson }}
            {{- '}\\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\\n' }}
    {%- elif message.role == "tool" %}
        {%- if (loop.index0 == 0) or (messages[loop.index0 - 1].role != "tool") %}
            {{- '<|im_start|>user' }}
        {%- endif %}
        {{- '\\n<tool_response>\\n' }}
        {{- message.content }}
        {{- '\\n</tool_response>' }}
        {%- if loop.last or (messages[loop.index0 + 1].role != "tool") %}
            {{- '<|im_end|>\\n' }}
        {%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- endif %}
{%- endif %}""",
    "Mistral": """{%- if messages[0]["role"] == "system" %}
    {%- set system_message = messages[0]["content"] %}
    {%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set loop_messages = messages %}
{%- endif %}
{%- set user_messages = loop_messages | selectattr("role", "equalto", "user") | list %}
{%- set ns = namespace() %}
{%- set ns.index = 0 %}
{%- for message in loop_messages %}
    {%- if not (message.role == "tool" or (message.tool_calls is defined and message.tool_calls is not none)) %}
        {%- if (message["role"] == "user") != (ns.index % 2 == 0) %}
            {{- raise_exception("conversation roles must alternate") }}
        {%- endif %}
        {%- set ns.index = ns.index + 1 %}
    {%- endif %}
{%- endfor %}
{{- bos_token }}
{%- for message in loop_messages %}
    {%- if message["role"] == "user" %}
        {%- if tools is not none and (message == user_messages[-1]) %}
            {{- "[AVAILABLE_TOOLS] [" }}
            {%- for tool in tools %}
                {%- set tool = tool.function %}
                {{- '{"type": "function", "function": {' }}
                {%- for key, val in tool.items() if key != "return" %}
                    {%- if val is string %}
                        {{- '"' + key + '": "' + val + '"' }}
                    {%- else %}
                        {{- '"' + key + '": ' + val|tojson }}
                    {%- endif %}
                    {%- if not loop.last %}
                        {{- ", " }}
                    {%- endif %}
                {%- endfor %}
                {{- "}}" }}
                {%- if not loop.last %}
                    {{- ", " }}
                {%- else %}
                    {{- "]" }}
                {%- endif %}
            {%- endfor %}
            {{- "[/AVAILABLE_TOOLS]" }}
        {%- endif %}
        {%- if loop.last and system_message is defined %}
            {{- "[INST] " + system_message + "\\n\\n" + message["content"] + "[/INST]" }}
        {%- else %}
            {{- "[INST] " + message["content"] + "[/INST]" }}
        {%- endif %}
    {%- elif message.tool_calls is defined and message.tool_calls is not none %}
        {{- "[TOOL_CALLS] [" }}
        {%- for tool_call in message.tool_calls %}
            {%- set out = tool_call.function|tojson %}
            {{- out[:-1] }}
            {{- ', "id": "' + tool_call.id|string + '"}' }}
            {{- ", " if not loop.last else "]" + eos_token }}
        {%- endfor %}
    {%- elif message["role"] == "assistant" %}
        {{- " " + message["content"]|trim + eos_token}}
    {%- elif message["role"] == "tool" %}
        {{- '[TOOL_RESULTS] {"content": ' + message.content|string + "}[/TOOL_RESULTS]" }}
    {%- else %}
        {{- raise_exception("Only user and assistant roles are supported") }}
    {%- endif %}
{%- endfor %}
""",
    "Gemma": """{{ bos_token }}
{%- if messages[0]['role'] == 'system' -%}
    {%- if messages[0]['content'] is string -%}
        {%- set first_user_prefix = messages[0]['content'] + '\\n\\n' -%}
    {%- else -%}
        {%- set first_user_prefix = messages[0]['content'][0]['text'] + '\\n\\n' -%}
    {%- endif -%}
    {%- set loop_messages = messages[1:] -%}
{%- else -%}
    {%- set first_user_prefix = "" -%}
    {%- set loop_messages = messages -%}
{%- endif -%}
{%- for message in loop_messages -%}
    {%- if (message['role'] == 'assistant') -%}
        {%- set role = "model" -%}
    {%- else -%}
        {%- set role = message['role'] -%}
    {%- endif -%}
    {{ '<start_of_turn>' + role + '\\n' + (first_user_prefix if loop.first else "") }}
    {%- if message['content'] is string -%}
        {{ message['content'] | trim }}
    {%- elif message['content'] is iterable -%}
        {%- for item in message['content'] -%}
            {%- if item['type'] == 'image' -%}
                {{ '<start_of_image>' }}
            {%- elif item['type'] == 'text' -%}
                {{ item['text'] | trim }}
            {%- endif -%}
        {%- endfor -%}
    {%- else -%}
        {{ raise_exception("Invalid content type") }}
    {%- endif -%}
    {{ '<end_of_turn>\\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{'<start_of_turn>model\\n'}}
{%- endif -%}
""",
    "Zephyr": """{% for message in messages %}
{% if message['role'] == 'user' %}
{{ '<|user|>\\n' + message['content'] + eos_token }}
{% elif message['role'] == 'system' %}
{{ '<|system|>\\n' + message['content'] + eos_token }}
{% elif message['role'] == 'assistant' %}
{% generation %}{{ '<|assistant|>\\n'  + message['content'] + eos_token }}{% endgeneration %}

{% endif %}
{% if loop.last and add_generation_prompt %}
{{ '<|assistant|>' }}
{% endif %}
{% endfor %}
""",
    "macros": """{%- macro describe(properties, required=[], depth=0) -%}
{%- for name, value in properties|dictsort -%}
{{ "  " * depth }}- {{ name }}{{ "*" if name in required }}: {{ value.type|upper }}{% if value.description is defined and value.description %} ({{ value.description|replace('"', "'") }}){% endif +%}
{%- if value.properties %}{{ describe(value.properties, depth=depth + 1) }}{% endif %}
{%- endfor -%}
{%- endmacro -%}
{%- for tool in tools or [] %}{{ tool.function.name }}
{{ describe(tool.function.parameters.properties, tool.function.parameters.required) }}{% else %}no tools
{% endfor %}
{%- for message in messages|reject("none") %}
{{ loop.index }}/{{ loop.length }} {{ message.role|capitalize }}: {{ (message.content or "")|string|length }}{% if loop.previtem is defined %} after {{ loop.previtem.role }}{% endif +%}
{% endfor %}""",
}

TOOLS = [{"type": "function", "function": {
    "name": "weather", "description": "The weather \"now\"", "parameters": {"type": "object", "required": ["place"], "properties": {
        "place": {"type": "string", "description": "a \"city\", 東京"}, "Unit": {"type": "enum", "properties": {"c": {"type": "string"}}}}}}}]

CONVERSATIONS = [
    {"messages": [{"role": "user", "content": "  Hello, wörld!\n"}]},
    {"messages": [{"role": "system", "content": "Be brief. "}, {"role": "user", "content": "1 < 2 && \"quotes\"?"}, {"role": "assistant", "content": " Yes.\n"},
                  {"role": "user", "content": "你好"}], "add_generation_prompt": True},
    {"messages": [{"role": "user", "content": "Weather?"},
                  {"role": "assistant", "content": "<think>hm</think>\n\nWait", "tool_calls": [{"id": "call00001", "type": "function", "function": {"name": "weather", "arguments": {"place": "Zürich", "days": 2, "x": 1.5, "y": None}}}]},
                  {"role": "tool", "content": "12 degrees"}, {"role": "assistant", "content": "<think>\nhm\n</think>\n\n12."}, {"role": "user", "content": "Thanks"}],
     "tools": TOOLS, "add_generation_prompt": True, "enable_thinking": False},
    {"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}], "tools": None},
    {"messages": [{"role": "system", "content": [{"type": "text", "text": "S"}]}, {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": " T "}]}]},
    {"messages": []},
]

# A template each; the variables are VARIABLES.
FEATURES = [
    "a\n{% if true %}\n  b\n  {% endif %}\nc\n", "  {%- if true -%}  x  {%- endif -%}  y", "  {%+ if true %} x {% endif +%}\n y", "{{ 1 }}\n{{ 2 }}\n\n", "a {#- gone -#} b\n  {# line #}\nc",
    "x\n   {% set a = 1 %}   \ny", "\r\na\r\nb\rc\r\n", "{% raw %}{{ x }}{% endraw %}\nz", "a{% raw -%}  {{ b }}  {%- endraw %}\nc", "{{- ' a ' -}}  b", "{{ '{{' }}{{ \"%}\" }}", "a\n\t {#- x #}\n b", "{% if 1 %}{% endif %}\n\n{% if 1 %}\n{% endif %}x",
    "{{ 1 + 2 * 3 - 4 / 2 }} {{ 7 // 2 }} {{ -7 // 2 }} {{ 7 % 3 }} {{ -7 % 3 }} {{ 2 ** 10 }} {{ -2 ** 2 }} {{ 7.5 // 2 }} {{ -7.5 % 2 }} {{ 1e3 }} {{ 1.0 }} {{ 0.1 + 0.2 }} {{ 1e16 }} {{ 1e-5 }}",
    "{{ 1 ~ 'a' ~ none ~ true ~ 1.5 }} {{ 'a' 'b' }} {{ 'ab' * 3 }} {{ [1] + [2, 'x'] }}", "{{ 'a' ~ 1 + 2 }}", "{{ 1 < 2 < 3 }} {{ 1 < 3 < 2 }} {{ 1 == 1.0 }} {{ 1 == true }} {{ 'a' != 'b' }} {{ 'a' < 'b' }} {{ [1, 2] == [1, 2] }} {{ {'a': 1} == {'a': 1} }} {{ none == undefined_one }}",
    "{{ 'a' in 'abc' }} {{ 'x' not in 'abc' }} {{ 1 in [1, 2] }} {{ 'k' in {'k': 1} }} {{ not 1 in [2] }} {{ not (1 and 0) or 0 }} {{ 0 or 'b' }} {{ 1 and 'c' }} {{ '' or none }}",
    "{{ true }} {{ True }} {{ false }} {{ none }} {{ None }} [{{ missing }}] {{ [true, none, 'a\\'b', \"x\\n\", 1.0] }} {{ {'a': [1, {'b': 'c'}]} }} {{ (1, 2)[0] }} {{ [] }} {{ {} }}",
    "{{ 'a' if true else 'b' }}{{ 'a' if false }}{{ 'a' if false else 'b' if false else 'c' }}", "{{ text[0] }}{{ text[-1] }}{{ text[1:3] }}{{ text[::-1] }}{{ text[:-2] }}{{ text[5:2:-1] }}{{ text[100:] }}{{ items[::2] }}{{ items[-2:] }}{{ items[5:1] }}",
    "{{ items[10] }}{{ text['x'] }}{{ d.missing }}{{ d['a'] }}{{ d.a }}{{ d.get('zz') }}{{ d.get('zz', 3) }}{{ d.get('a') }}", "{{ d.items()|list }} {{ d.keys()|list }} {{ d.values()|list }} {% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}{% for k in d %}{{ k }}{% endfor %}",
    "{% for i in range(3) %}{{ i }}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}|{% endfor %}{{ range(2, 8, 3)|list }}{{ range(5, 0, -2)|list }}",
    "{% for i in items if i is odd %}{{ i }}{{ loop.length }}{% if not loop.last %},{% endif %}{% endfor %}{% for i in [] %}x{% else %}empty{% endfor %}{% for c in 'añb' %}{{ c }}.{% endfor %}{% for x in missing %}{{ x }}{% endfor %}",
    "{% for i in items %}{% if i == 2 %}{% continue %}{% endif %}{% if i == 4 %}{% break %}{% endif %}{{ i }}{% endfor %}", "{% set x = 1 %}{% for i in items %}{% set x = i %}{% endfor %}{{ x }}{% if true %}{% set x = 9 %}{% endif %}{{ x }}",
    "{% set ns = namespace(a=1, b=[]) %}{% for i in items %}{% set ns.a = ns.a + i %}{% set ns.b = ns.b + [i] %}{% endfor %}{{ ns.a }}{{ ns.b }}", "{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set c = 1, 2 %}{{ c[1] }}{% set t %} block {{ a }} {% endset %}[{{ t }}]",
    "{% macro m(a, b='x', c=none) %}<{{ a }}{{ b }}{{ c }}>{% endmacro %}{{ m(1) }}{{ m(1, 2, 3) }}{{ m(c=4, a='q') }}{{ m() }}", "{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(5) }}", "{% set y = 5 %}{% macro m() %}{{ y }}{% endmacro %}{{ m() }}{% set y = 6 %}{{ m() }}",
    "[{{ '  a b\u00a0'|trim }}][{{ ' x '.strip() }}][{{ 'xxaxx'.strip('x') }}][{{ 'xyaxy'.lstrip('xy') }}][{{ 'axy'.rstrip('yx') }}][{{ '\\u3000a'|trim }}][{{ 5|trim }}]", "{{ 'a,b,c'.split(',') }} {{ ' a  b '.split() }} {{ 'a,b,c'.split(',', 1) }} {{ 'abc'.split('x') }} {{ ' a b c '.split(none, 1) }} {{ 'a\\nb\\r\\nc'.splitlines() }}",
    "{{ 'aXbX'.replace('X', '-') }} {{ 'aXbX'|replace('X', '-', 1) }} {{ 'ab'.replace('', '.') }} {{ 'Hello'.startswith('He') }} {{ 'Hello'.endswith(('lo', 'x')) }} {{ 'a-b'.find('-') }} {{ 'éa'.find('a') }} {{ 'ab'.find('z') }} {{ 'banana'.count('an') }} {{ ', '.join(['a', 'b']) }}",
    "{{ 'hello wORLD-x'.title() }} {{ 'hello wORLD-x'|title }} {{ \"they're 2nd\".title() }} {{ \"they're 2nd\"|title }} {{ 'hELLO'|capitalize }} {{ 'ÀÉß'|lower }} {{ 'àé'|upper }} {{ 'Ab'.upper() }}{{ 'Ab'.lower() }}{{ 'aB c'.capitalize() }}",
    "{{ items|join(', ') }} {{ items|join }} {{ people|join('/', attribute='name') }} {{ items|first }} {{ items|last }} {{ items|length }} {{ 'añ'|length }} {{ d|length }} {{ items|reverse|list }} {{ 'abc'|reverse }} {{ []|first }}",
    "{{ missing|default('d') }} {{ ''|default('d') }} {{ ''|default('d', true) }} {{ none|d('x') }} {{ missing|default }}|{{ 0|default(7, boolean=true) }}", "{{ '42'|int }} {{ 'x'|int }} {{ 'x'|int(3) }} {{ 3.9|int }} {{ -3.9|int }} {{ 5|float }} {{ -5|abs }} {{ 5|string + '1' }} {{ 'a'|list }} {{ true|int }}",
    "{{ people|map(attribute='name')|list }} {{ people|selectattr('age', 'gt', 30)|map(attribute='name')|join(',') }} {{ people|rejectattr('age', 'equalto', 31)|list|length }} {{ people|selectattr('nick')|list|length }} {{ people|selectattr('nick', 'defined')|list|length }} {{ items|select('odd')|list }} {{ items|reject('odd')|list }} {{ ['a', 'b']|map('upper')|join }} {{ people|map(attribute='nick', default='-')|join(',') }}",
    "{{ d|tojson }} {{ [1, 2.5, true, none, 'é\"\\\\/\\n\\u2028']|tojson }} {{ people|tojson(indent=2) }} {{ []|tojson(indent=2) }} {{ {}|tojson }} {{ [[]]|tojson(indent=1) }} {{ '<b>&'|tojson }} {{ {'a': {'b': [1]}}|tojson(indent=4) }}",
    "{{ missing is defined }} {{ d is defined }} {{ d.zz is defined }} {{ d.zz is not defined }} {{ none is none }} {{ 'a' is string }} {{ d is mapping }} {{ items is sequence }} {{ items is iterable }} {{ 1 is iterable }} {{ 1 is number }} {{ 1.5 is float }} {{ 1 is integer }} {{ true is integer }} {{ true is boolean }} {{ true is true }} {{ 1 is true }} {{ false is false }} {{ 4 is even }} {{ 6 is divisibleby 3 }} {{ 'b' is in ['a', 'b'] }} {{ 2 is eq 2 }} {{ 2 is gt(1) }} {{ raise_exception is callable }}",
    "{{ d|items|list }} {{ {'b': 1, 'A': 2}|dictsort }} {{ 'a\\nb\\n\\nc'|indent(2) }} {{ 'a\\nb'|indent(2, true) }} {{ 'a\\n\\nb'|indent(width=1, blank=true) }}", "{{ not missing }} {{ missing == '' }} {{ missing is none }} {% if missing %}x{% else %}y{% endif %}", "{{ d['a']|upper if d.a is string else d.a + 1 }} {{ (items|length - 1) * 2 }} {{ -items[0] }} {{ - 3 }} {{ items[1 - 1] }} {{ +3 }}",
    "{{ 'a\\tb\\\\c\\x41\\u00e9\\q' }}", "{{ people[0].name }} {{ people[0]['name'][0] }} {{ people.0.name }} {{ d.sub.x }}{{ d.sub['y'] }}", "{% if a is not defined and not b %}1{% elif c %}2{% else %}3{% endif %}", "{{ \"it's\" }} {{ 'say \"x\"' }} {{ ['it\\'s', 'say \"x\"', 'both\\'\"'] }}", "{% for a in [[1, 2], [3, 4]] %}{% for b in a %}{{ loop.index }}{{ b }}{% endfor %}{{ loop.index }}{% endfor %}",
    "{{ dict(a=1)['a'] }}{{ namespace(x=2).x }}", "{{ [1,2,] }}{{ {'a':1,} }}{{ (1,) }}"[:-9], "{{ true and not false }} {{ not not 1 }} {{ 1 if 0 else 2 if 1 else 3 }} {{ (1 if 0) is defined }}", "{{ text is string and text|length > 3 }} {{ 'x' ~ 1 == 'x1' }} {{ 2 * 3 ~ 'a' }}", "{{ 3 is not none and 3 is not string }} {{ none is not none or missing is undefined }}",
    "{%- set content -%}\n  a {{ 1 }}\n{%- endset -%}[{{ content }}]", "{% for m in messages %}{% if loop.nextitem is defined %}{{ loop.nextitem }}{% endif %}{% endfor %}ok",
    # Found by tools/chat_sweep.py.
    "{{ '3.5'|int }} {{ ' +7 '|int }} {{ 'x1'|int }} {{ '1.5'|float }} {{ 'x'|float }} {{ 'x'|float(2) }} {{ 7|round }}",
    "{{ 2.5|round }} {{ 3.14159|round(2) }} {{ 2.1|round(0, 'ceil') }} {{ -2.1|round(method='floor') }} {{ 7 % 0.3 }}",
    "{{ -7.25 % 2 }} {{ 7.5 // -2 }} {{ 3 * 'ab' }} {{ [1, 2] * 2 }} {{ (1, 2) + (3,) }} {{ (1, 2, 3)[1:] }}",
    "{{ missing is callable }} {{ 1 is callable }}",
    "{{ (1, 2) == [1, 2] }} {{ [1, 2] < [1, 3] }} {{ [missing] }} {{ ['\\u200b\\u00a0\\u2028é\\x85\\U000e0001'] }}",
    "{{ d|tojson(sort_keys=true) }} {{ {'b': 1, 'a': 'é'}|tojson(true) }} {{ d|tojson(separators=(',', ':')) }}",
    "{{ {'b': [1], 'a': 2}|tojson(false, 2, none, true) }} {{ [1]|tojson(indent='\\t') }} {{ [[]]|tojson(indent=0) }}",
    "{{ 'ß ﬁ ǆ İ ΑΣ ΣΑ'|upper }} {{ 'ß ﬁ ǆ İ ΑΣ ΣΑ Σ'|lower }} {{ 'ßa ǆa ﬁa'.title() }} {{ 'ǆA'|capitalize }}",
    "{{ d|dictsort(reverse=true) }} {{ {'b': 1, 'A': 3, 'c': 2}|dictsort(true) }} {{ {'b': 2, 'a': 9}|dictsort(by='value') }}",
    "{{ items|sum }} {{ items|min }} {{ items|max }} {{ [3, 1, 2]|sort }} {{ ['b', 'A']|sort }} {{ ['b', 'A']|sort(true) }}",
    "{{ ['b', 'A', 'a']|unique|list }} {{ people|sort(attribute='age')|map(attribute='name')|join }} {{ []|max }}|",
    "{{ people|sum(attribute='age') }} {{ items|batch(2)|list }} {{ items|batch(2, '-')|list }} {{ people|max(attribute='age') }}",
    "{{ 'a.b.c'.rsplit('.', 1) }} {{ ' a b c '.rsplit(none, 1) }} {{ 'a-b-c'.partition('-') }} {{ 'a-b-c'.rpartition('-') }}",
    "{{ 'xay'.removeprefix('x') }} {{ 'xay'.removesuffix('y') }} {{ 'xay'.removesuffix('') }} {{ 'aBc'.swapcase() }}",
    "{{ '7'.zfill(3) }} {{ '-7'.zfill(4) }} [{{ 'a'.ljust(3) }}] [{{ 'é'.rjust(3, '*') }}] [{{ 'ab'.center(5) }}]",
    "[{{ 'ab'.center(6, '*') }}] [{{ 'a'.center(4) }}] [{{ 'abc'|center(8) }}] {{ 'a\\x0bb\\x85c\\u2028d'.splitlines() }}",
    "{{ 'a\\nb\\r\\n'.splitlines(true) }} {{ '12'.isdigit() }} {{ ''.isdigit() }} {{ '²'.isdigit() }} {{ 'aé'.isalpha() }}",
    "{{ 'a1'.isalnum() }} {{ ' \\n'.isspace() }} {{ 'A1'.isupper() }} {{ '1'.islower() }} {{ 1.5 is lower }} {{ 'a' is lower }}",
    "{{ '{} {}'.format(1, 'a') }} {{ '{1}{0}{{}}'.format(1, 2) }} {{ '{a}'.format(a=none) }} {{ '%s|%r'|format('a', 'b') }}",
    "{{ '%s' % 'a' }} {{ '%s %d%%' % ('a', 3) }} {{ '%.2f' % 1.005 }} {{ '%s' % [1, 2] }} {{ 'banana'.count('') }}",
    "{{ [1, 2, 1].count(1) }} {{ [1, 2].index(2) }} {{ 'ab'.index('b') }} {{ d.copy() == d }} {{ '<&\"\\''|e }}",
    "{% with a = 1, b = 'x' %}{{ a }}{{ b }}{% endwith %}{{ a }} {% filter upper|replace('A', 'b') %}xa{% endfilter %}",
    "{% set t | trim | upper %}  a {{ 1 }} {% endset %}[{{ t }}]{% for i in items %}{{ loop.cycle('a', 'b') }}{% endfor %}",
    "{% for i in items %}{% for j in [1] %}{{ loop.depth }}{{ loop.depth0 }}{% endfor %}{% endfor %}",
    "{{ 'a\\r\\nb\\u2028c\\n'|indent(2) }}|{{ ''|indent(2, true) }}|{{ '\\n'|indent(2, true, true) }}|",
    "{% for i in [2] %}{% macro r(x) %}{{ x }}{{ i }}{% if x > 0 %}{{ r(x - 1) }}{% endif %}{% endmacro %}{{ r(i) }}"
    "{% endfor %}{% set a %}{% set b = 1 %}{% endset %}[{{ b }}]",
    "{{ people|selectattr('age', '>', 30)|list|length }} {{ people|selectattr('age', '==', 31)|map(attribute='name')|list }}",
    # What Jinja refuses.
    "{{ missing.x }}", "{{ missing + 1 }}", "{{ 1 + 'a' }}", "{{ 'a' + 1 }}", "{{ 1 / 0 }}", "{{ 1 < 'a' }}", "{{ raise_exception('no') }}", "{% if %}{% endif %}", "{% for %}{% endfor %}", "{% if 1 %}", "{% endif %}", "{{ 1 + }}", "{{ 'a }}", "{{ (1 }}", "{% unknown %}", "{{ 1|nofilter }}", "{{ 1 is notest }}", "{% for a, b in [[1]] %}{% endfor %}", "{{ missing() }}", "{{ none.x.y }}", "{{ items.append(1) }}", "{{ range(1000000) }}", "{{ 1 if }}", "{# x", "{{ m(1 }}", "{% set d.a = 1 %}", "{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}", "{{ d.items }", "{% break %}", "{{ [1, 2 }}", "{{ 5.upper() }}",
]

VARIABLES = {"text": "héllo wörld", "items": [1, 2, 3, 4, 5], "d": {"a": "x", "b": 2, "sub": {"x": 1}}, "messages": [1, 2],
             "people": [{"name": "Ann", "age": 31, "nick": ""}, {"name": "Bob", "age": 40, "nick": "B"}, {"name": "Cy", "age": 20}]}


def main():
    cases = [(template, {"bos_token": "<s>", "eos_token": "</s>", **conversation}) for template in [*SHAPES.values(), *chat_draws.SHAPES.values()]
             for conversation in CONVERSATIONS]
    cases += [(template, VARIABLES) for template in FEATURES]
    with open(OUT, "w", encoding="utf-8") as file:
        for template, variables in cases:
            case = {"template": template, "variables": variables}
            try:
                case["text"] = ENVIRONMENT.from_string(template).render(**variables)
            except (jinja2.exceptions.TemplateError, ArithmeticError, AttributeError, LookupError, SyntaxError, TypeError, ValueError, OverflowError):
                pass
            file.write(json.dumps(case, ensure_ascii=False) + "\n")
    print(sum(1 for _ in open(OUT, encoding="utf-8")), "cases")


if __name__ == "__main__":
    main()
